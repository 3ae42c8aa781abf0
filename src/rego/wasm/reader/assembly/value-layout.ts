/**
 * Memory layout of values in OPA's C runtime (value.h of OPA 0.70, wasm/src): little endian,
 * offsets in bytes. Every value is in a block of the runtime's allocator, so that the runtime may
 * free it: the 12 bytes before it hold the block's size and two words that are unused until the
 * block is freed. The reader keeps notes in these words.
 */
export const BLOCK_HEADER: usize = 12
/** Up to four words: a number, a string, an object, an array, or an element of an object. */
export const WORDS_SIZE: u32 = 16
export const WORDS_BLOCK: usize = BLOCK_HEADER + WORDS_SIZE
/** Null. */
export const SMALL_SIZE: u32 = 4
export const SMALL_BLOCK: usize = BLOCK_HEADER + SMALL_SIZE

/** The first byte of a value is its type; a number's second byte is 1 for an integer. */
export const NULL: u32 = 1
export const INTEGER: u32 = 3 | (1 << 8)
/** A number that is stored as text. */
export const BIG_NUMBER: u32 = 3 | (2 << 8)
export const STRING: u32 = 4
export const ARRAY: u32 = 5
export const OBJECT: u32 = 6
/** True or false, in the second byte. Never freed. */
export const INTERNED_BOOLEAN: u32 = 9

export const INTEGER_VALUE: usize = 8
export const STRING_LENGTH: usize = 4
export const STRING_TEXT: usize = 8
export const ARRAY_ELEMENTS: usize = 4
export const ARRAY_LENGTH: usize = 8
export const ARRAY_CAPACITY: usize = 12
export const OBJECT_BUCKETS: usize = 4
export const OBJECT_BUCKET_COUNT: usize = 8
export const OBJECT_LENGTH: usize = 12
/** An element of an object: key, value, and the next element of the bucket. */
export const ELEMENT_KEY: usize = 0
export const ELEMENT_VALUE: usize = 4
export const ELEMENT_NEXT: usize = 8

/** Returns the allocator's block size (malloc.c: 4, 8, 16, 64, or as requested). */
export function blockSize(size: u32): u32 {
  if (size > 64) return size
  if (size > 16) return 64
  return size > 8 ? 16 : size > 4 ? 8 : 4
}
