/**
 * How the runtime of a module lays out its values (value.h of OPA 0.70), little endian, offsets in bytes; the reader's own notes tell
 * more (`reader/assembly/value-layout.ts`). Whether a module does is found out before anything relies on it (`reader/reads-alike.ts`).
 */

/** The first byte of a value: its type. */
export const NULL = 1
export const NUMBER = 3
export const STRING = 4
export const ARRAY = 5
export const OBJECT = 6
export const SET = 7
export const INTERNED_STRING = 8
export const INTERNED_BOOLEAN = 9

/** The first two bytes where the second tells more: a 64-bit integer, a number that is kept as its text, and the two booleans. */
export const INTEGER = NUMBER | (1 << 8)
export const DECIMAL = NUMBER | (2 << 8)
export const TRUE = INTERNED_BOOLEAN | (1 << 8)
export const FALSE = INTERNED_BOOLEAN

export const STRING_LENGTH = 4
export const STRING_TEXT = 8
export const INTEGER_VALUE = 8
export const NUMBER_TEXT = 8
export const NUMBER_LENGTH = 12

/** Of an array its elements, which are an index and a value each, and of an object its buckets of members. */
export const MEMBERS = 4
/** How many elements or buckets. */
export const COUNT = 8
export const OBJECT_LENGTH = 12
export const ELEMENT_BYTES = 8
/** Of an element of an array, and of a member of an object. */
export const MEMBER_VALUE = 4
export const NEXT_MEMBER = 8
