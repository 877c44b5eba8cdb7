import { LOW_STOCK, PAGE_DEFAULT } from "./bounds.ts";
import {
  array,
  boolean,
  custom,
  int,
  mustBe,
  object,
  oneOf,
  partial,
  type Shape,
  string,
  type Value,
} from "./shape.ts";
import { dateTime } from "./times.ts";

/** An int64 as the wire has it: a number while that is exact, a bigint above 2^53. */
export type Int64 = number | bigint;

export const MAX_INT64 = 9223372036854775807n;
const MAX_INT32 = 2147483647;
export const NAME_CHARACTERS = 200;
export const DESCRIPTION_CHARACTERS = 2000;
const CURSOR_CHARACTERS = 2000;
export const BATCH_PETS = 1000;
export const IDS_IN_A_FILTER = 100;
export const PAGE_LIMIT = 100;

/** An id that came from outside: exact over the whole int64 range, so it never names another record. */
export const givenId = custom<Int64>(idProblem, { type: "integer", format: "int64", minimum: 1 });

/** An id where none is wanted: any integer is taken, and not looked at. */
const ignoredId = custom<Int64>(
  (value) => (typeof value === "bigint" || Number.isInteger(value) ? undefined : "must be an integer"),
  { type: "integer", format: "int64" },
);

/** An id that the service assigned; it stays below 2^53. */
export const id = int({ minimum: 1, format: "int64" });

/** A count that is set is int32; units that come back from orders may carry stock beyond it. */
const setCount = int({ minimum: 0, maximum: MAX_INT32, format: "int32" });
const stockCount = int({ minimum: 0, format: "int64" });
const orderCount = int({ minimum: 1, maximum: MAX_INT32, format: "int32" });

/** A name as people give it: 1 to 200 characters, not only white space. */
export const name = text(NAME_CHARACTERS, true);
const description = text(DESCRIPTION_CHARACTERS, false);

export const PetStatus = oneOf(["available", "pending", "sold"], {
  id: "PetStatus",
  description: "`available` can be ordered, `pending` is held or waits for its open orders, `sold` is gone.",
});
export type PetStatus = Value<typeof PetStatus>;

const petName = name.described("The animal's name.");

export const NewPet = object(
  {
    name: petName,
    categoryId: givenId.described("The category that the animal belongs to."),
    status: PetStatus.optional(),
  },
  { id: "NewPet", description: "What creates a pet." },
);
export type NewPet = Value<typeof NewPet>;

export const PetReplacement = object(
  { id: givenId.optional(), ...NewPet.fields },
  {
    id: "PetReplacement",
    description: "A whole pet; without `status` the pet keeps its own. An `id` must be the path's.",
  },
);

export const PetUpdate = object(partial({ id: givenId, ...NewPet.fields }), {
  id: "PetUpdate",
  description: "The fields of a pet to change. An `id` must be the path's.",
});

export const Pet = object(
  {
    id: id.described("Assigned on creation."),
    name: petName,
    categoryId: id.described("The category that the animal belongs to."),
    status: PetStatus.optional(),
  },
  { id: "Pet", description: "An animal of the store." },
);
export type Pet = Value<typeof Pet>;

export const Pets = array(Pet, { id: "Pets", description: "A page of pets." });
export const NewPets = array(NewPet, {
  minItems: 1,
  maxItems: BATCH_PETS,
  id: "NewPets",
  description: "1 to 1,000 pets to create.",
});

export const NewCategory = object(
  {
    name: name.described("For example a kind of animal. Names need not be unique."),
    description: description.described("A short description.").optional(),
  },
  { id: "NewCategory", description: "What creates a category." },
);

export const CategoryReplacement = object(
  { id: givenId.optional(), ...NewCategory.fields },
  { id: "CategoryReplacement", description: "A whole category. An `id` must be the path's." },
);

export const CategoryUpdate = object(partial({ id: givenId, name, description: description.nullable() }), {
  id: "CategoryUpdate",
  description:
    "The fields of a category to change; `null` clears the description. An `id` must be the path's.",
});

export const Category = object(
  { id, ...NewCategory.fields },
  { id: "Category", description: "A category of animals." },
);
export type Category = Value<typeof Category>;
export const Categories = array(Category, { id: "Categories", description: "A page of categories." });

export const StorePet = object(
  {
    ...Pet.fields,
    status: PetStatus,
    category: Category,
    quantity: stockCount.described("Units that can be ordered now."),
  },
  { id: "StorePet", description: "A pet with its category and its stock." },
);
export type StorePet = Value<typeof StorePet>;

const orderFields = {
  petId: givenId.described("The pet that is ordered; without one the order is a draft."),
  quantity: orderCount.described("Units ordered; 1 if a pet is given without it."),
  shipDate: dateTime.described("Expected or actual ship date."),
  complete: boolean({ description: "Whether the order has been fulfilled." }),
};

export const NewOrder = object(
  partial({ id: ignoredId.described("Ignored: the service assigns it."), ...orderFields }),
  { id: "NewOrder", description: "What places an order; without `petId` it is a draft." },
);
export type NewOrder = Value<typeof NewOrder>;

export const OrderUpdate = object(
  partial({
    id: givenId,
    petId: orderFields.petId.nullable(),
    quantity: orderFields.quantity.nullable(),
    shipDate: orderFields.shipDate.nullable(),
    complete: orderFields.complete,
  }),
  {
    id: "OrderUpdate",
    description:
      "The fields of an open order to change; `petId: null` makes it a draft again. An `id` must be the path's.",
  },
);
export type OrderUpdate = Value<typeof OrderUpdate>;

export const Order = object(partial({ ...orderFields, id, petId: id }), {
  id: "Order",
  description: "An order of a pet.",
});
export type Order = Value<typeof Order>;
export const Orders = array(Order, { id: "Orders", description: "A page of orders." });

export const InventoryItem = object(
  { petId: id, quantity: stockCount.described("Units that can be ordered now."), status: PetStatus },
  { id: "InventoryItem", description: "The stock of a pet." },
);
export type InventoryItem = Value<typeof InventoryItem>;
export const InventoryItems = array(InventoryItem, {
  id: "InventoryItems",
  description: "A page of stock entries.",
});

export const InventoryUpdate = object(
  { quantity: setCount.described("The new stock count.") },
  { id: "InventoryUpdate", description: "What sets the stock of a pet." },
);

export const MovementReason = oneOf(
  ["created", "ordered", "changed", "cancelled", "restocked", "sold", "returned", "removed"],
  { id: "MovementReason", description: "Why stock changed." },
);
export type MovementReason = Value<typeof MovementReason>;

export const Movement = object(
  {
    id,
    petId: id,
    change: int({ format: "int64", description: "Units added, or taken if negative." }),
    balance: stockCount.described("The stock after the change."),
    reason: MovementReason,
    orderId: id.described("The order that caused it, if one did.").optional(),
    at: dateTime.described("When it happened."),
  },
  { id: "Movement", description: "One change of stock; movements are never changed or removed." },
);
export type Movement = Value<typeof Movement>;
export const Movements = array(Movement, {
  id: "Movements",
  description: "A page of movements, newest first.",
});

export const ErrorDetail = object(
  {
    field: string({ description: "The field or parameter." }),
    message: string({ description: "What is wrong with it." }),
  },
  { id: "ErrorDetail", description: "One problem of a request." },
);
export type ErrorDetail = Value<typeof ErrorDetail>;

export const ErrorBody = object(
  {
    code: string({ description: "Machine-readable and stable." }),
    message: string({ description: "What was wrong and what to do." }),
    status: int({ minimum: 400, maximum: 599, description: "The HTTP status code." }),
    details: array(ErrorDetail, { description: "Every problem of a refused request." }).optional(),
  },
  { id: "Error", description: "Every failure has this body." },
);
export type ErrorBody = Value<typeof ErrorBody>;

export const paging = {
  limit: int({ minimum: 1, maximum: PAGE_LIMIT, description: "Records on a page." }).default(PAGE_DEFAULT),
  cursor: text(CURSOR_CHARACTERS, false)
    .described("Where the page starts: from the `Link` header of the page before.")
    .optional(),
};

export const lowStockFilter = int({ minimum: 0, maximum: LOW_STOCK, format: "int32" });

/** Words of people: no NUL, no broken characters. */
export function text(characters: number, isRequired: boolean): Shape<string> {
  const told = { maxLength: characters };
  return string(isRequired ? { minLength: 1, ...told, pattern: "\\S" } : told, (value) =>
    textProblems(value, characters, isRequired),
  );
}

function textProblems(value: string, characters: number, isRequired: boolean): readonly string[] {
  const isTooLong = value.length > characters && [...value].length > characters;
  const isEmpty = isRequired && value.trim() === "";
  if (!isEmpty && !isTooLong && !value.includes("\0") && value.isWellFormed()) return noProblems;
  const problems: string[] = [];
  if (isEmpty) problems.push("must not be empty or only white space");
  if (isTooLong) problems.push(`must have at most ${characters} characters, has ${[...value].length}`);
  if (value.includes("\0")) problems.push("must not contain the NUL character");
  if (!value.isWellFormed()) problems.push("must not contain lone surrogates");
  return problems;
}

const noProblems: readonly string[] = [];

function idProblem(value: unknown): string | undefined {
  if (typeof value !== "bigint" && !Number.isInteger(value)) return mustBe("an integer", value);
  if (typeof value === "number" && !Number.isSafeInteger(value))
    return "must be an integer written without fraction or exponent";
  if ((value as Int64) < 1) return mustBe("at least 1", value);
  if ((value as Int64) > MAX_INT64) return `must be at most ${MAX_INT64}`;
  return undefined;
}
