// The floor: a bare Bun.serve that answers every request with one constant and the headers of ours, by a handler or as a static route.
const [kind = "handler", status = "200", body = "", headers = "{}"] = process.argv.slice(2);
const init = { status: Number(status), headers: JSON.parse(headers) as Record<string, string> };
const answer = () => new Response(body, init);
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  development: false,
  ...(kind === "static" ? { routes: { "/*": answer() } } : { fetch: answer }),
});
console.error(`http://127.0.0.1:${server.port}`);
