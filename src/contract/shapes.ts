import { z } from "zod";

/** An int64 as the wire has it: a number while that is exact, a bigint above 2^53. */
export type Int64 = number | bigint;

export const MAX_INT64 = 9223372036854775807n;
const MAX_INT32 = 2147483647;
export const NAME_CHARACTERS = 200;
export const DESCRIPTION_CHARACTERS = 2000;
export const BATCH_PETS = 1000;
export const IDS_IN_A_FILTER = 100;
export const PAGE_LIMIT = 100;
export const PAGE_DEFAULT = 20;

/** An id that came from outside: exact over the whole int64 range, so it never names another record. */
export const givenId = z
  .custom<Int64>()
  .superRefine((value, context) => {
    const problem = idProblem(value);
    if (problem) context.addIssue({ code: "custom", message: problem });
  })
  .meta({ type: "integer", format: "int64", minimum: 1 });

/** An id where none is wanted: any integer is taken, and not looked at. */
const ignoredId = z
  .custom<Int64>((value) => typeof value === "bigint" || Number.isInteger(value), "must be an integer")
  .meta({ type: "integer", format: "int64" });

/** An id that the service assigned; it stays below 2^53. */
const id = z.int().min(1).meta({ format: "int64" });

/** A count that is set is int32; units that come back from orders may carry stock beyond it. */
const setCount = z.int().min(0).max(MAX_INT32).meta({ format: "int32" });
const stockCount = z.int().min(0).meta({ format: "int64" });
const orderCount = z.int().min(1).max(MAX_INT32).meta({ format: "int32" });
const FIRST_YEAR_MS = Date.parse("0000-01-01T00:00:00Z");
const AFTER_LAST_YEAR_MS = Date.UTC(10_000, 0, 1);
const notDateTime = "must be an RFC 3339 date-time with an offset, such as 2026-11-30T12:00:00Z";
const dateTime = z.iso
  .datetime({ offset: true, error: notDateTime, abort: true })
  .refine((text) => /T\d\d:\d\d:\d\d/.test(text) && isWithinFourDigitYears(Date.parse(text)), notDateTime);

/** A name as people give it: 1 to 200 characters, not only white space. */
export const name = text(NAME_CHARACTERS, true);
const description = text(DESCRIPTION_CHARACTERS, false);

export const PetStatus = z.enum(["available", "pending", "sold"]).meta({
  id: "PetStatus",
  description: "`available` can be ordered, `pending` is held or waits for its open orders, `sold` is gone.",
});
export type PetStatus = z.output<typeof PetStatus>;

const petFields = {
  name: name.meta({ description: "The animal's name." }),
  status: PetStatus,
};

export const NewPet = z
  .strictObject({
    name: petFields.name,
    categoryId: givenId.meta({ description: "The category that the animal belongs to." }),
    status: PetStatus.optional(),
  })
  .meta({ id: "NewPet", description: "What creates a pet." });
export type NewPet = z.output<typeof NewPet>;

export const PetReplacement = z.strictObject({ id: givenId.optional(), ...NewPet.shape }).meta({
  id: "PetReplacement",
  description: "A whole pet; without `status` the pet keeps its own. An `id` must be the path's.",
});

export const PetUpdate = z
  .strictObject({ id: givenId, ...NewPet.shape })
  .partial()
  .meta({ id: "PetUpdate", description: "The fields of a pet to change. An `id` must be the path's." });

export const Pet = z
  .strictObject({
    id: id.meta({ description: "Assigned on creation." }),
    name: petFields.name,
    categoryId: id.meta({ description: "The category that the animal belongs to." }),
    status: PetStatus.optional(),
  })
  .meta({ id: "Pet", description: "An animal of the store." });
export type Pet = z.output<typeof Pet>;

export const Pets = z.array(Pet).meta({ id: "Pets", description: "A page of pets." });
export const NewPets = z
  .array(NewPet)
  .min(1)
  .max(BATCH_PETS)
  .meta({ id: "NewPets", description: "1 to 1,000 pets to create." });

export const NewCategory = z
  .strictObject({
    name: name.meta({ description: "For example a kind of animal. Names need not be unique." }),
    description: description.meta({ description: "A short description." }).optional(),
  })
  .meta({ id: "NewCategory", description: "What creates a category." });

export const CategoryReplacement = z
  .strictObject({ id: givenId.optional(), ...NewCategory.shape })
  .meta({ id: "CategoryReplacement", description: "A whole category. An `id` must be the path's." });

export const CategoryUpdate = z
  .strictObject({ id: givenId, name, description: description.nullable() })
  .partial()
  .meta({
    id: "CategoryUpdate",
    description: "The fields of a category to change; `null` clears the description.",
  });

export const Category = z
  .strictObject({ id, ...NewCategory.shape })
  .meta({ id: "Category", description: "A category of animals." });
export type Category = z.output<typeof Category>;
export const Categories = z.array(Category).meta({ id: "Categories", description: "A page of categories." });

export const StorePet = z
  .strictObject({
    ...Pet.shape,
    status: PetStatus,
    category: Category,
    quantity: stockCount.meta({ description: "Units that can be ordered now." }),
  })
  .meta({ id: "StorePet", description: "A pet with its category and its stock." });
export type StorePet = z.output<typeof StorePet>;

const orderFields = {
  petId: givenId.meta({ description: "The pet that is ordered; without one the order is a draft." }),
  quantity: orderCount.meta({ description: "Units ordered; 1 if a pet is given without it." }),
  shipDate: dateTime.meta({ description: "Expected or actual ship date." }),
  complete: z.boolean().meta({ description: "Whether the order has been fulfilled." }),
};

export const NewOrder = z
  .strictObject({ id: ignoredId.meta({ description: "Ignored: the service assigns it." }), ...orderFields })
  .partial()
  .meta({ id: "NewOrder", description: "What places an order; without `petId` it is a draft." });
export type NewOrder = z.output<typeof NewOrder>;

export const OrderUpdate = z
  .strictObject({
    id: givenId,
    petId: orderFields.petId.nullable(),
    quantity: orderFields.quantity.nullable(),
    shipDate: orderFields.shipDate.nullable(),
    complete: orderFields.complete,
  })
  .partial()
  .meta({
    id: "OrderUpdate",
    description: "The fields of an open order to change; `petId: null` makes it a draft again.",
  });
export type OrderUpdate = z.output<typeof OrderUpdate>;

export const Order = z
  .strictObject({ ...orderFields, id, petId: id })
  .partial()
  .meta({ id: "Order", description: "An order of a pet." });
export type Order = z.output<typeof Order>;
export const Orders = z.array(Order).meta({ id: "Orders", description: "A page of orders." });

export const InventoryItem = z
  .strictObject({
    petId: id,
    quantity: stockCount.meta({ description: "Units that can be ordered now." }),
    status: PetStatus,
  })
  .meta({ id: "InventoryItem", description: "The stock of a pet." });
export type InventoryItem = z.output<typeof InventoryItem>;
export const InventoryItems = z
  .array(InventoryItem)
  .meta({ id: "InventoryItems", description: "A page of stock entries." });

export const InventoryUpdate = z
  .strictObject({ quantity: setCount.meta({ description: "The new stock count." }) })
  .meta({ id: "InventoryUpdate", description: "What sets the stock of a pet." });

export const MovementReason = z
  .enum(["created", "ordered", "changed", "cancelled", "restocked", "sold", "returned", "removed"])
  .meta({ id: "MovementReason", description: "Why stock changed." });
export type MovementReason = z.output<typeof MovementReason>;

export const Movement = z
  .strictObject({
    id,
    petId: id,
    change: z.int().meta({ format: "int64", description: "Units added, or taken if negative." }),
    balance: stockCount.meta({ description: "The stock after the change." }),
    reason: MovementReason,
    orderId: id.meta({ description: "The order that caused it, if one did." }).optional(),
    at: dateTime.meta({ description: "When it happened." }),
  })
  .meta({ id: "Movement", description: "One change of stock; movements are never changed or removed." });
export type Movement = z.output<typeof Movement>;
export const Movements = z
  .array(Movement)
  .meta({ id: "Movements", description: "A page of movements, newest first." });

export const ErrorDetail = z
  .strictObject({
    field: z.string().meta({ description: "The field or parameter." }),
    message: z.string().meta({ description: "What is wrong with it." }),
  })
  .meta({ id: "ErrorDetail", description: "One problem of a request." });
export type ErrorDetail = z.output<typeof ErrorDetail>;

export const ErrorBody = z
  .strictObject({
    code: z.string().meta({ description: "Machine-readable and stable." }),
    message: z.string().meta({ description: "What was wrong and what to do." }),
    status: z.int().min(400).max(599).meta({ description: "The HTTP status code." }),
    details: z.array(ErrorDetail).meta({ description: "Every problem of a refused request." }).optional(),
  })
  .meta({ id: "Error", description: "Every failure has this body." });
export type ErrorBody = z.output<typeof ErrorBody>;

export const paging = {
  limit: z.int().min(1).max(PAGE_LIMIT).default(PAGE_DEFAULT).meta({ description: "Records on a page." }),
  cursor: z
    .string()
    .max(2000)
    .meta({ description: "Where the page starts: from the `Link` header of the page before." })
    .optional(),
};

export const dateTimeFilter = dateTime;
export const stockCountFilter = setCount;

function text(characters: number, required: boolean) {
  return z
    .string()
    .superRefine((value, context) => {
      for (const message of textProblems(value, characters, required))
        context.addIssue({ code: "custom", message });
    })
    .meta(required ? { minLength: 1, maxLength: characters, pattern: "\\S" } : { maxLength: characters });
}

function* textProblems(value: string, characters: number, required: boolean): Generator<string> {
  if (required && value.trim() === "") yield "must not be empty or only white space";
  if (value.length > characters) {
    const length = [...value].length;
    if (length > characters) yield `must have at most ${characters} characters, has ${length}`;
  }
  if (value.includes("\0")) yield "must not contain the NUL character";
  if (!value.isWellFormed()) yield "must not contain lone surrogates";
}

function idProblem(value: unknown): string | undefined {
  if (value === undefined) return "is required";
  if (typeof value !== "bigint" && !Number.isInteger(value)) return `must be an integer, got ${shown(value)}`;
  if (typeof value === "number" && !Number.isSafeInteger(value))
    return "must be an integer written without fraction or exponent";
  if ((value as Int64) < 1) return `must be at least 1, got ${value}`;
  if ((value as Int64) > MAX_INT64) return `must be at most ${MAX_INT64}`;
  return undefined;
}

/** An offset can carry the first and the last hours out of what RFC 3339 can write in UTC. */
function isWithinFourDigitYears(time: number): boolean {
  return time >= FIRST_YEAR_MS && time < AFTER_LAST_YEAR_MS;
}

/** A value as a message may show it: short, and never a whole body. */
export function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}...` : text;
}
