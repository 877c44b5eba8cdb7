import fc from "fast-check";

/** What a parser must judge, a character a byte: requests by the grammar, with odd parts and bytes changed on the way. */
export function byteStrings(): fc.Arbitrary<string> {
  const said = fc.array(aRequest, { minLength: 1, maxLength: 3 }).map((requests) => requests.join(""));
  const changes = fc.oneof(
    { weight: 6, arbitrary: fc.constant([]) },
    { weight: 6, arbitrary: fc.array(aChange, { minLength: 1, maxLength: 1 }) },
    fc.array(aChange, { minLength: 2, maxLength: 4 }),
  );
  return fc.tuple(said, changes).map(([text, each]) => each.reduce((before, change) => change(before), text));
}

/** Mostly one of the usual, sometimes one of the odd. */
function mostly(usual: readonly string[], odd: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 40, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: fc.constantFrom(...odd) },
  );
}

const method = mostly(
  ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
  ["get", "G\tT", "", " GET", "GET\0"],
);
const space = mostly([" "], ["  ", "\t", "", " \t", "\v", "\r"]);
const target = mostly(
  ["/", "/pets", "/pets?limit=1&name=x", "/a%20b", "http://x/pets", "https://x:1?y", "/'!$&()*+,;=:@~._-"],
  [
    "*",
    "",
    "pets",
    "/a b",
    "/a\tb",
    "/\xc3\xa9",
    "/a\0",
    "ftp://x/",
    "http://",
    "//x",
    "/a\x7f",
    "x:1",
    "?a",
  ],
);
const version = mostly(
  ["HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0"],
  ["HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "http/1.1", "HTTP/1.1 ", "HTTP/1.", "HTTP/11", "", "HTTP/1.1\0"],
);
const lineEnd = fc.oneof(
  { weight: 200, arbitrary: fc.constant("\r\n") },
  { weight: 1, arbitrary: fc.constantFrom("\n", "\r", "\r\r\n", "\n\r", "\r\n ", " \r\n", "\0\r\n") },
);
const host = mostly(
  ["Host: x", "host:x:80", "HOST: [::1]:80"],
  ["", "Host:", "Host : x", "Host: x\r\nHost: y"],
);
const header = mostly(
  [
    "X-A: 1",
    "x-a:2",
    "X-B: \t b c\t ",
    "X-C:",
    "X-D: \xe9\xff",
    "Accept: */*;q=0.1, text/html",
    "Connection: close",
    "Connection: keep-alive",
    "Connection: Keep-Alive, x",
    "Content-Type: application/json",
    "!#$%&'*+-.^_`|~09: :",
  ],
  [
    "X-A : 1",
    " X-A: 1",
    "X A: 1",
    "X-A",
    ": 1",
    "X-A: \x7f",
    "X-A: a\rb",
    "X-A: a\0b",
    "X-A: a\nX-B: b",
    "X-A: 1\r\n folded",
    "X-A: 1\r\n\tfolded",
    "X(A): 1",
    "X-\xe9: 1",
    "X-A: \x01",
    "Content-Length: 3",
    "Transfer-Encoding: chunked",
  ],
);
const body = fc.constantFrom(
  "{}",
  "a",
  "abc\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
  "0\r\n\r\n",
  "\xff\0",
  "x".repeat(300),
);

/** A length as somebody could write it. */
function lengths(bytes: number): fc.Arbitrary<string> {
  const odd = [`+${bytes}`, `-${bytes}`, `${bytes}, ${bytes}`, `0x${bytes}`, `${bytes} 1`, "", `${bytes};`];
  const others = [`${bytes + 1}`, `${Math.max(0, bytes - 1)}`, "18446744073709551616", `${bytes}\v`];
  return mostly([`${bytes}`, `0${bytes}`, ` ${bytes} `, `\t${bytes}`], [...odd, ...others]);
}

const coding = mostly(
  ["chunked", "Chunked", " chunked "],
  [
    "chunked\t",
    "identity",
    "gzip, chunked",
    "xchunked",
    "chunked, identity",
    "chunked,",
    "",
    '"chunked"',
    "chunked\v",
  ],
);

/** A body's part as a chunk. */
function chunk(text: string): fc.Arbitrary<string> {
  const hex = text.length.toString(16);
  const size = mostly(
    [hex, hex.toUpperCase(), `0${hex}`],
    [
      `0x${hex}`,
      `-${hex}`,
      `+${hex}`,
      ` ${hex}`,
      `${hex} `,
      "",
      `${hex}g`,
      `1${"0".repeat(16)}${hex}`,
      `${hex}.`,
    ],
  );
  const extension = mostly(
    ["", "", "", ";a", ";a=b", ';a="b c"'],
    [";", " ;a", "; a", ";a\n", ";a\rb", ";\0", ";a=", ";a=b;c", ";\xe9", ";a b", ";=", ';a="'],
  );
  return fc
    .tuple(size, extension, lineEnd, lineEnd)
    .map(([n, more, one, two]) => n + more + one + text + two);
}

const trailers = mostly(
  ["", "", "X-T: 1\r\n", "X-T: 1\r\nX-U:\r\n"],
  ["X-T\r\n", "X-T : 1\r\n", " x\r\n", "X: \0\r\n"],
);

/** A body whose length is told. */
function sized(text: string): fc.Arbitrary<Framed> {
  return lengths(text.length).map((length) => [[`Content-Length:${length}`], text]);
}

/** The headers that tell where a body ends, and the body. */
type Framed = readonly [readonly string[], string];

const framed: fc.Arbitrary<Framed> = fc.oneof(
  { weight: 10, arbitrary: fc.constant<Framed>([[], ""]) },
  { weight: 10, arbitrary: body.chain(sized) },
  {
    weight: 10,
    arbitrary: fc
      .tuple(
        coding,
        fc.array(body.chain(chunk), { maxLength: 3 }),
        mostly(["0", "000", "0;a"], ["0x0", "-0", "", "0 "]),
        trailers,
        lineEnd,
      )
      .map(
        ([name, chunks, last, more, end]): Framed => [
          [`Transfer-Encoding:${name}`],
          `${chunks.join("")}${last}\r\n${more}${end}`,
        ],
      ),
  },
  {
    weight: 1,
    arbitrary: body.map(
      (text): Framed => [[`Content-Length: ${text.length}`, "Transfer-Encoding: chunked"], text],
    ),
  },
);

const aRequest = fc
  .tuple(
    fc.tuple(method, space, target, space, version),
    fc.tuple(host, fc.array(header, { maxLength: 3 }), framed),
    fc.tuple(lineEnd, lineEnd, lineEnd, mostly(["", "", "", "\r\n"], ["\n", "\r", " ", "\r\n\r\n"])),
  )
  .map(([first, [hostLine, headers, [framing, text]], [one, two, three, before]]) => {
    const lines = [hostLine, ...headers, ...framing].filter((line) => line !== "");
    return `${before}${first.join("")}${one}${lines.join(two)}${lines.length > 0 ? two : ""}${three}${text}`;
  });

/** Where in the text, as a part of its length. */
const place = fc.noBias(fc.integer({ min: 0, max: 2 ** 20 - 1 })).map((each) => each / 2 ** 20);
const oddByte = fc.oneof(
  fc.constantFrom(..." \t\r\n\0\v:;,/0123456789abcxX-_\x7f\x80\xff"),
  fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
);

/** Something that happens to a text. */
const aChange: fc.Arbitrary<(text: string) => string> = fc
  .tuple(fc.constantFrom("flip", "drop", "double", "swap", "insert", "replace", "cut"), place, place, oddByte)
  .map(([kind, where, bit, byte]) => (text) => {
    const at = Math.floor(where * text.length);
    const [before, here, behind] = [text.slice(0, at), text.slice(at, at + 1), text.slice(at + 1)];
    switch (kind) {
      case "flip":
        return before + String.fromCharCode(here.charCodeAt(0) ^ (1 << Math.floor(bit * 8))) + behind;
      case "drop":
        return before + behind;
      case "double":
        return before + here + here + behind;
      case "swap":
        return before + behind.slice(0, 1) + here + behind.slice(1);
      case "insert":
        return before + byte + here + behind;
      case "replace":
        return before + byte + behind;
      default:
        return before;
    }
  });
