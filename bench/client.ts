// What the client weighs in a page, whole and by part: npm run bench:client
import { join } from "node:path";
import { clientSize } from "../client/build.ts";

const { minified, gzipped } = await clientSize();
console.log(`petstore-client: ${minified} bytes minified, ${gzipped} gzipped`);

const source = join(import.meta.dir, "../client/src");
for (const name of [...new Bun.Glob("*.ts").scanSync(source)].sort()) {
  const bundle = await Bun.build({ entrypoints: [join(source, name)], minify: true, external: ["./*"] });
  const text = await (bundle.outputs[0] as Blob).text();
  if (text !== "") console.log(`  ${name.padEnd(16)} ${String(text.length).padStart(6)} minified, alone`);
}
