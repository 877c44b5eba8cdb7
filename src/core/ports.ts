import type { Plan } from "../contract/plans.ts";
import type { Role } from "../contract/route.ts";
import type { Int64 } from "../contract/shapes.ts";
import type { Conduct } from "./bans.ts";
import type {
  Admission,
  AuditRecord,
  BanRecord,
  CategoryQuery,
  CategoryRecord,
  ClientRecord,
  DraftRecord,
  EventBounds,
  EventQuery,
  EventRecord,
  KeptAnswer,
  KeyQuery,
  KeyRecord,
  KnownKey,
  LimitedKey,
  ListedPet,
  ListedStock,
  MovementQuery,
  MovementRecord,
  NewBanRecord,
  NewEvent,
  NewOrderRecord,
  NewPetRecord,
  OrderChange,
  OrderQuery,
  OrderRecord,
  PageQuery,
  PetChange,
  PetQuery,
  PetRecord,
  PetWithCategory,
  SessionRecord,
  Standing,
  StockMove,
  UsageQuery,
  UsageRecord,
} from "./records.ts";
import type { Tally } from "./tally.ts";
import type { WebhookReads, WebhookWrites } from "./webhook-ports.ts";
import type { Windows } from "./windows.ts";

export type * from "./records.ts";

/** A value now or later: the embedded database answers at once, a remote one does not. */
export type Awaitable<T> = T | Promise<T>;

/** What can be asked of the store: committed data only, `null` for what is not there. */
export interface Reads extends WebhookReads {
  pet(id: Int64): Awaitable<PetRecord | null>;
  petWithCategory(id: Int64): Awaitable<PetWithCategory | null>;
  pets(query: PetQuery): Awaitable<ListedPet[]>;
  stock(query: PetQuery): Awaitable<ListedStock[]>;
  category(id: Int64): Awaitable<CategoryRecord | null>;
  categories(query: CategoryQuery): Awaitable<CategoryRecord[]>;
  order(id: Int64): Awaitable<OrderRecord | null>;
  orders(query: OrderQuery): Awaitable<OrderRecord[]>;
  movements(query: MovementQuery): Awaitable<MovementRecord[]>;
  /** Oldest first. Whoever goes on after the last of them, or after `upTo` if they are all, misses none. */
  events(query: EventQuery): Awaitable<EventRecord[]>;
  /** The last event up to which all are committed; it is asked for before `events`. */
  lastEvent(): Awaitable<number>;
  /** The last event, up to that one, before which all are older than a time: those from then on are behind it. */
  lastEventBefore(at: number, upTo: number): Awaitable<number>;
  /** Asked for after `events`, it tells whether some of them were gone by then. */
  eventBounds(): Awaitable<EventBounds>;
  keptAnswer(clientId: number, key: string, keptSince: number): Awaitable<KeptAnswer | null>;
  keyByHash(hash: string): Awaitable<KnownKey | null>;
  /** A session of the console, over or not. */
  session(hash: string): Awaitable<SessionRecord | null>;
  key(id: Int64): Awaitable<KeyRecord | null>;
  /** Whether there is a key or was one: a revoked one counts. */
  hasKeys(): Awaitable<boolean>;
  /** All keys, or all of a client. */
  keys(clientId: Int64 | null): Awaitable<KeyRecord[]>;
  keyPage(query: KeyQuery): Awaitable<KeyRecord[]>;
  conduct(keyId: number): Awaitable<Conduct | null>;
  /** The conduct of all keys that a client has or had. */
  conducts(clientId: number): Awaitable<Conduct[]>;
  /** Those that are neither revoked nor expired. */
  countWorkingKeys(clientId: number, now: number): Awaitable<number>;
  /** Of the bans of a client's keys, revoked ones too, the one that is in force for longest. */
  clientBan(clientId: number, now: number): Awaitable<BanRecord | null>;
  /** A key's ban in force. */
  ban(keyId: number, now: number): Awaitable<BanRecord | null>;
  client(id: Int64): Awaitable<ClientRecord | null>;
  clients(query: PageQuery): Awaitable<ClientRecord[]>;
  clientNamed(name: string, plan: Plan): Awaitable<ClientRecord | null>;
  bans(query: PageQuery, now: number): Awaitable<BanRecord[]>;
  /** A client's: one record or more for each day, operation and class of status; they add up. */
  usage(query: UsageQuery): Awaitable<UsageRecord[]>;
  /** Of all clients together, a day at a time: they may be many, and others are served in between. */
  usageOfDay(day: number): Awaitable<DayUsage>;
  audit(query: PageQuery): Awaitable<AuditRecord[]>;
  /** Rises with every change of clients, keys and bans. */
  accessRevision(): Awaitable<number>;
  /** Whether anything is in the catalogue. */
  isEmpty(): Awaitable<boolean>;
}

/** What all clients asked on a day. */
export interface DayUsage {
  /** One record or more for each operation and class of status: they add up. */
  readonly sums: readonly Omit<UsageRecord, "clientId">[];
  /** One or more for each client: so do these. */
  readonly clients: readonly Pick<UsageRecord, "clientId" | "requests">[];
}

/** An order with its pet as the order left it. */
export interface PlacedOrder {
  readonly order: OrderRecord;
  readonly pet: PetRecord;
}

/**
 * What can be changed, inside one transaction. Each write of a pet's stock is one conditional statement on
 * its row and leaves a movement; `null` says that the condition did not hold and nothing changed.
 */
export interface Writes extends Reads, WebhookWrites {
  /** `null`: there is no such category. */
  addPet(pet: NewPetRecord, now: number): Awaitable<PetRecord | null>;
  /** `null`: the pet is not as it was read. */
  changePet(before: PetRecord, change: PetChange, now: number): Awaitable<PetRecord | null>;
  /** `null`: orders are open, or the pet is not as it was read. */
  removePet(before: PetRecord, now: number): Awaitable<PetRecord | null>;
  /** `null`: the pet is unknown, not available while units are taken, or has too few. */
  moveStock(move: StockMove, now: number): Awaitable<PetRecord | null>;
  /** Takes the units and keeps the order. `null` as in `moveStock`, or the client is gone; nobody removes it until the transaction ends. */
  placeOrder(order: NewOrderRecord, now: number): Awaitable<PlacedOrder | null>;
  /** `null`: the client is gone. */
  addDraft(draft: DraftRecord, now: number): Awaitable<OrderRecord | null>;
  /** `null`: the order is not as it was read. */
  changeOrder(before: OrderRecord, change: OrderChange): Awaitable<OrderRecord | null>;
  removeOrder(before: OrderRecord): Awaitable<OrderRecord | null>;
  addCategory(category: { name: string; description: string | null }, now: number): Awaitable<CategoryRecord>;
  changeCategory(
    before: CategoryRecord,
    change: { name: string; description: string | null },
  ): Awaitable<CategoryRecord | null>;
  /** `null`: pets belong to it, or it is not as it was read. */
  removeCategory(before: CategoryRecord): Awaitable<CategoryRecord | null>;
  /** They can be read when the transaction is over. */
  emit(events: readonly NewEvent[], now: number): Awaitable<void>;
  /** Drops some of the events that are older, none behind `upTo`; whether more may be left. */
  forgetEvents(olderThan: number, upTo: number, limit: number): Awaitable<boolean>;
  /**
   * For the first question of a request with an idempotency key, of which one at a time goes on: the answer that it was given
   * before. A store far away may say `null` before it knows, and undo what was done meanwhile if there is one after all.
   */
  claimKey(clientId: number, key: string, keptSince: number): Awaitable<KeptAnswer | null>;
  /** In the place of one that was kept before then; a newer one is not replaced, the transaction fails. */
  keepAnswer(
    clientId: number,
    key: string,
    answer: KeptAnswer,
    now: number,
    keptBefore: number,
  ): Awaitable<void>;
  /** Drops some of the older answers; whether more may be left. */
  forgetAnswers(keptBefore: number): Awaitable<boolean>;
  addClient(
    client: Omit<ClientRecord, "id" | "createdAt" | "suspendedAt">,
    now: number,
  ): Awaitable<ClientRecord>;
  /** The client, for which nobody places an order until the transaction ends. */
  lockedClient(id: Int64): Awaitable<ClientRecord | null>;
  changeClient(client: ClientRecord): Awaitable<void>;
  /** The row stays for what refers to it; nothing finds it any more, its keys are revoked and its webhooks gone. */
  removeClient(id: number, now: number): Awaitable<void>;
  addKey(
    key: {
      clientId: number;
      role: Role;
      name: string | null;
      hash: string;
      lastFour: string;
      expiresAt: number | null;
    },
    now: number,
  ): Awaitable<KeyRecord>;
  revokeKey(id: number, now: number): Awaitable<void>;
  expireKey(id: number, at: number): Awaitable<void>;
  /** Whether it is new: a key earns one ban at a time. */
  addBan(ban: NewBanRecord): Awaitable<boolean>;
  /** Whether there was a ban in force. */
  liftBan(keyId: number, now: number): Awaitable<boolean>;
  addTally(tally: Tally, isSorted: boolean): Awaitable<void>;
  /** Takes the oldest tallies out, oldest first: one at least, and no more than make up so many bytes. */
  takeTallies(isSorted: boolean, mostBytes: number): Awaitable<Tally[]>;
  /** Whether a run's part is new: parts of a run are numbered upward. */
  beginPart(run: string, part: number, now: number): Awaitable<boolean>;
  /** All at once: there is one of each run of a process. */
  forgetParts(before: number): Awaitable<void>;
  /** Of each client once. */
  keepWindows(rows: readonly (Windows & { readonly clientId: number })[]): Awaitable<void>;
  keepConduct(keyId: number, conduct: Conduct): Awaitable<void>;
  /** Of each client, day, operation and class of status once. */
  addUsage(rows: readonly UsageRecord[]): Awaitable<void>;
  /** Drops some of the usage of days before; whether more may be left. */
  forgetUsage(beforeDay: number): Awaitable<boolean>;
  /** Takes a duty until then, if no other instance has it now. */
  takeDuty(name: string, now: number, until: number): Awaitable<boolean>;
  /** Of each key once. */
  keepLastUses(rows: readonly { readonly keyId: number; readonly at: number }[]): Awaitable<void>;
  /** The key's oldest sessions end, as far as there are more than `most`. */
  addSession(
    session: { readonly hash: string; readonly keyId: number; readonly endsAt: number },
    most: number,
    now: number,
  ): Awaitable<void>;
  useSession(hash: string, now: number): Awaitable<void>;
  endSession(hash: string): Awaitable<void>;
  /** Drops links that are over, and some of the sessions that are; whether more of these may be left. */
  forgetSessions(endedBefore: number): Awaitable<boolean>;
  addSignInLink(link: {
    readonly hash: string;
    readonly keyId: number;
    readonly endsAt: number;
  }): Awaitable<void>;
  /** The key that the link signs in, once; `null`: it was used, or is over. */
  takeSignInLink(hash: string, now: number): Awaitable<number | null>;
  addAudit(entry: Omit<AuditRecord, "id">): Awaitable<void>;
  raiseAccessRevision(): Awaitable<void>;
}

/** Who may ask how much; each function is one atomic step. */
export interface Limits {
  /** One request of a key: its ban, then both windows of its client; a free one only looks. */
  admit(key: LimitedKey, now: number, isFree: boolean): Awaitable<Admission>;
  /** One request without a valid key, counted against its network address. */
  admitAddress(address: string, now: number, isFree: boolean): Awaitable<Admission>;
  /** One question about the limits, which has a bucket of its own: how all stands, or how long to wait. */
  ask(
    key: LimitedKey,
    now: number,
  ): Awaitable<{ readonly standing: Standing; readonly waitSeconds: number | null }>;
}
