/**
 * Memory layout of the runtime's values (value.h of OPA 0.70): little endian, offsets in bytes; see
 * also `reader/assembly/value-layout.ts`. `reader/known-layout.ts` checks the layout of a module
 * before anything relies on it.
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

/** The first two bytes of integers, numbers stored as text, and booleans. */
export const INTEGER = NUMBER | (1 << 8)
export const DECIMAL = NUMBER | (2 << 8)
export const TRUE = INTERNED_BOOLEAN | (1 << 8)
export const FALSE = INTERNED_BOOLEAN

export const STRING_LENGTH = 4
export const STRING_TEXT = 8
export const INTEGER_VALUE = 8
export const NUMBER_TEXT = 8
export const NUMBER_LENGTH = 12

/** The elements of an array (an index and a value each), or the buckets of an object. */
export const MEMBERS = 4
export const COUNT = 8
export const OBJECT_LENGTH = 12
export const ELEMENT_BYTES = 8
/** Offset of the value in an element of an array and in a member of an object. */
export const MEMBER_VALUE = 4
export const NEXT_MEMBER = 8
