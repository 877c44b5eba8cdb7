// The writer's thread: like main.ts it wires adapters, and like main.ts nothing imports it.
import { perform } from "./core/perform.ts";
import { type Packed, packed, unpacked } from "./store/sqlite/packing.ts";
import { runWriter } from "./store/sqlite/thread.ts";
import type { ToWriter } from "./store/sqlite/writer.ts";

declare const self: Worker;

const receive = runWriter({ postMessage: (message) => self.postMessage(packed(message)) }, perform);
self.onmessage = ({ data }: MessageEvent<Packed<ToWriter>>) => receive(unpacked(data));
