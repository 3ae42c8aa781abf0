/** Memory layout of OPA's values (value.h of OPA 0.70 to 1.20), little endian. */
export const INTEGER: u32 = 3 | (1 << 8)
export const NUMBER: u32 = 3
/** A number that is stored as text. */
export const DECIMAL: u32 = 3 | (2 << 8)
export const STRING: u32 = 4
export const ARRAY: u32 = 5
export const OBJECT: u32 = 6
export const SET: u32 = 7
export const INTERNED_STRING: u32 = 8

export const INTEGER_VALUE: usize = 8
export const NUMBER_TEXT: usize = 8
export const NUMBER_LENGTH: usize = 12
export const STRING_LENGTH: usize = 4
export const STRING_TEXT: usize = 8
export const ARRAY_ELEMENTS: usize = 4
export const ARRAY_LENGTH: usize = 8
/** Members of an object and of a set. */
export const BUCKETS: usize = 4
export const BUCKET_COUNT: usize = 8
export const COLLECTION_LENGTH: usize = 12
/** The next member of the same bucket. */
export const NEXT_IN_OBJECT: usize = 8
export const NEXT_IN_SET: usize = 4
/** Size of the largest value, a number. */
export const VALUE_BYTES: usize = 24
