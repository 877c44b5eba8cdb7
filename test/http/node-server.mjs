// A server of Node's own, read strictly, that tells what it understood of each connection, as a line of JSON.
import { createServer } from "node:http";

const connections = new WeakMap();

const server = createServer({ insecureHTTPParser: false }, (request, response) => {
  const heard = { method: request.method, url: request.url, headers: {}, body: "" };
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const name = request.rawHeaders[at].toLowerCase();
    const value = request.rawHeaders[at + 1];
    heard.headers[name] = name in heard.headers ? `${heard.headers[name]}, ${value}` : value;
  }
  const { socket } = request;
  request.setEncoding("latin1");
  request.on("data", (part) => {
    heard.body += part;
  });
  request.on("error", () => {});
  request.on("end", () => {
    if (request.complete) connections.get(socket).push(heard);
    response.end("{}");
  });
});
// Who says no more is still answered.
server.httpAllowHalfOpen = true;
server.on("connection", (socket) => {
  const requests = [];
  connections.set(socket, requests);
  socket.on("close", () => {
    process.stdout.write(`${JSON.stringify(requests)}\n`);
  });
});
// What came before it is told first.
server.on("clientError", (_, socket) => setTimeout(() => socket.destroy(), 1));
server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
