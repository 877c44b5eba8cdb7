/** All tabs of a browser have one session: what one of them does to it concerns the others. */
const tabs = new BroadcastChannel("petstore-console");
let look = async () => {};
let looked: Promise<void> = Promise.resolve();

/** Says how this tab finds out who is signed in; it does so whenever another one signed in or out. */
export function onSessionChange(act: () => Promise<void>): void {
  look = act;
  tabs.onmessage = lookAgain;
}

/** Finds out who is signed in, after whatever looks already. */
export function lookAgain(): void {
  looked = looked.then(look);
}

/** Tells the other tabs that this one signed in or out. */
export function tellTabs(): void {
  tabs.postMessage(null);
}

/** Waits until it is known who is signed in: what is sent before goes out as whoever that is. */
export async function untilLooked(): Promise<void> {
  for (let seen: Promise<void> | undefined; seen !== looked; ) {
    seen = looked;
    await seen;
  }
}
