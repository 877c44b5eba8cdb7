// The console: a page for staff and operators that does what any program could do through the client.
import { type Account, AuthenticationError } from "../../client/src/index.ts";
import { here, takeLink } from "./address.ts";
import { onSignedOut, signInByLink, signOut, startAnew, whoIsIt } from "./api.ts";
import { fill, h } from "./dom.ts";
import { type Frame, frame } from "./frame.ts";
import { arriveWhereLeft, comeBack, keepPlace, stay } from "./left.ts";
import { failed } from "./list.ts";
import { forgetNames } from "./names.ts";
import { noticePlaces, tell } from "./notices.ts";
import { pageAt } from "./pages.ts";
import { signedInAgain, signInAgain, signInScreen } from "./sign-in.ts";
import { lookAgain, onSessionChange } from "./tabs.ts";
import { explained, isAbort } from "./words.ts";

/** What takes longer says that it is loading. */
const QUICK_MS = 150;
const ASK_AGAIN_MS = 3000;

let account: Account | undefined;
let around: Frame;
let running = new AbortController();

window.addEventListener("hashchange", () => arrive(() => account && open()));
fill(document.body, noticePlaces());
onSessionChange(look);
keepPlace();
await arrive(enter);

/** An address is a page's, or the link of a first start, whoever is signed in. */
async function arrive(atAPage: () => unknown): Promise<void> {
  const link = takeLink();
  if (link === undefined) await atAPage();
  else await enter(await signInByLink(link));
}

/** Finds out who is signed in, and shows the page that the address names. */
async function enter(trouble?: string): Promise<void> {
  const found = await ask();
  await receive(found.account, trouble ?? found.trouble);
}

/** Somebody signed in or out, in this tab or another. The same person goes on where it was; another begins anew. */
async function look(): Promise<void> {
  let found = await ask();
  // Nobody knows whose the page is now: it stays, and nothing is sent from it, until that is known.
  while (account !== undefined && found.trouble !== undefined) {
    tell(`${found.trouble} Asking again who is signed in.`);
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
    found = await ask();
  }
  if (found.account?.key.id !== account?.key.id) void receive(found.account, found.trouble);
  else if (account !== undefined) {
    onSignedOut(() => signInAgain(lookAgain));
    if (signedInAgain()) tell("Signed in again. Go on where you were.");
  }
}

async function ask(): Promise<{ readonly account?: Account; readonly trouble?: string }> {
  onSignedOut(() => {});
  try {
    return { account: await whoIsIt() };
  } catch (error) {
    const isNobody = error instanceof AuthenticationError && error.code === "missing_api_key";
    return isNobody ? {} : { trouble: explained(error) };
  }
}

/** Shows the page to whoever is signed in now, or asks for a key. Of whoever was before nothing is left, and nothing goes on. */
async function receive(now: Account | undefined, trouble?: string): Promise<void> {
  running.abort();
  startAnew();
  signedInAgain();
  account = now;
  if (now === undefined) {
    signInScreen(trouble, enter);
    return;
  }
  onSignedOut(() => signInAgain(lookAgain));
  around = frame(now, leave);
  if (trouble !== undefined) tell(trouble);
  await open();
}

async function leave(): Promise<void> {
  const trouble = await signOut();
  if (trouble !== undefined) {
    tell(trouble);
    return;
  }
  onSignedOut(() => {});
  await receive(undefined);
}

/** Shows the page that the address names, from its top or where it was left. */
async function open(): Promise<void> {
  forgetNames();
  arriveWhereLeft();
  around.mark(here().parts[0] ?? "");
  await draw(true);
}

async function draw(isNew: boolean): Promise<void> {
  const signedIn = account as Account;
  const { parts, query } = here();
  running.abort();
  running = new AbortController();
  const { signal } = running;
  const { main } = around;
  const { title, show } = pageAt(parts, signedIn);
  document.title = `${title} · Petstore console`;
  main.setAttribute("aria-busy", "true");
  const loading = setTimeout(() => isNew && fill(main, h("p", { class: "loading" }, "Loading …")), QUICK_MS);
  const focused =
    document.activeElement instanceof HTMLElement ? document.activeElement.dataset.key : undefined;
  try {
    const refresh = () => {
      stay();
      return draw(false);
    };
    const [id, innerId] = [Number(parts[1]), Number(parts[3])];
    const content = await show({ account: signedIn, id, innerId, query, signal, refresh });
    if (signal.aborted) return;
    fill(main, content);
  } catch (error) {
    if (isAbort(error) || signal.aborted) return;
    fill(
      main,
      h("h1", { tabindex: "-1" }, title),
      failed(error, () => draw(isNew)),
    );
  } finally {
    clearTimeout(loading);
  }
  main.removeAttribute("aria-busy");
  settleFocus(main, isNew, focused);
}

/** A new page begins at its heading; one that was drawn anew keeps the focus where it was. */
function settleFocus(main: HTMLElement, isNew: boolean, key: string | undefined): void {
  if (isNew) main.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
  else if (key !== undefined)
    main.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
  comeBack();
}
