// Where a reader was on a page: how far down, and how many records each list had. It is kept with the page's entry in the browser's history,
// so that whoever comes back finds the page as it was left.

interface Left {
  readonly y?: number;
  /** By the lists' labels. */
  readonly rows?: Readonly<Record<string, number>>;
}

/** Somebody who scrolls has come to rest when nothing moved for so long; browsers refuse to be told more often. */
const REST_MS = 100;

/** A list is read anew by its pages, each of them a request: a longer one is found again as far as this. */
const MOST_ROWS = 500;

/** How far down to go again, as soon as the page is long enough. */
let goal: number | undefined;
let visits = 0;

function left(): Left {
  return (history.state as Left | null) ?? {};
}

function keep(part: Left): void {
  history.replaceState({ ...left(), ...part }, "");
}

/** Keeps how many records a list of the page has, for as long as that page is open. */
export function keptRows(label: string) {
  const visit = visits;
  return {
    count: () => Math.min(left().rows?.[label] ?? 0, MOST_ROWS),
    keep(count: number): void {
      if (visit !== visits) return;
      keep({ rows: { ...left().rows, [label]: count } });
      comeBack();
    },
  };
}

/** A page is opened: from its top, or from where it was left. */
export function arriveWhereLeft(): void {
  visits += 1;
  goal = left().y ?? 0;
}

/** The page is drawn anew: it stays where it is. */
export function stay(): void {
  goal = window.scrollY;
}

/** More of the page is there: goes as far as can be gone now. */
export function comeBack(): void {
  if (goal === undefined) return;
  window.scrollTo(0, goal);
  if (Math.abs(window.scrollY - goal) < 1) goal = undefined;
}

/** Has it kept from now on how far down the reader is. */
export function keepPlace(): void {
  history.scrollRestoration = "manual";
  let timer: number | undefined;
  let href = "";
  const rest = () => {
    clearTimeout(timer);
    if (timer !== undefined && goal === undefined && href === location.href) keep({ y: window.scrollY });
    timer = undefined;
  };
  window.addEventListener("scroll", () => {
    clearTimeout(timer);
    href = location.href;
    timer = window.setTimeout(rest, REST_MS);
  });
  // Whoever follows a link is gone before that.
  window.addEventListener("click", rest, { capture: true });
  // Whoever goes elsewhere by hand is not brought back.
  const letGo = () => {
    goal = undefined;
  };
  for (const each of ["wheel", "touchmove", "pointerdown", "keydown"])
    window.addEventListener(each, letGo, { passive: true });
}
