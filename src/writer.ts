// The writer's thread: like main.ts it wires adapters, and like main.ts nothing imports it.
import { perform } from "./core/perform.ts";
import { runWriter } from "./store/sqlite/thread.ts";
import type { ToWriter } from "./store/sqlite/writer.ts";

declare const self: Worker;

const receive = runWriter(self, perform);
self.onmessage = ({ data }: MessageEvent<ToWriter>) => receive(data);
