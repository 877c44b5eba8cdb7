// undici as a program on Node uses it: under Bun the package is another one of the same name.
import { Agent, RetryAgent, request } from "undici";

const { url, key, method, path, body, times, settings } = JSON.parse(process.argv[2]);
const dispatcher = new RetryAgent(new Agent(), settings);

async function call() {
  try {
    const headers = { "x-api-key": key, ...(body && { "content-type": "application/json" }) };
    const response = await request(url + path, { dispatcher, method, headers, body });
    await response.body.text();
    return response.statusCode;
  } catch (error) {
    return error.statusCode ?? error.message;
  }
}

const outcomes = await Promise.all(Array.from({ length: times }, call));
process.stdout.write(JSON.stringify(outcomes));
process.exit(0);
