import type { ModuleMemory } from '../module/module-memory.js'
import {
  ARRAY,
  COUNT,
  ELEMENT_BYTES,
  INTERNED_BOOLEAN,
  MEMBERS,
  MEMBER_VALUE,
  NEXT_MEMBER,
  NULL,
  NUMBER,
  OBJECT,
  OBJECT_LENGTH,
  STRING,
  STRING_LENGTH,
  STRING_TEXT,
} from '../module/value-layout.js'

/**
 * Whether two values in a module's memory are laid out alike: not only equal, but every element at the same place. Numbers are
 * compared by their text (`dump`), since the runtime has two forms of them. Raises RangeError for an address outside memory.
 */
export function isSameValue(
  memory: ModuleMemory,
  dump: (value: number) => string,
  a: number,
  b: number,
): boolean {
  const word = (address: number): number => memory.bytes.readUInt32LE(address)
  const isSame = (first: number, second: number): boolean => isSameValue(memory, dump, first, second)
  const type = memory.bytes.readUInt8(a)
  if (type !== memory.bytes.readUInt8(b)) return false
  switch (type) {
    case NULL:
      return true
    case INTERNED_BOOLEAN:
      return memory.bytes[a + 1] === memory.bytes[b + 1]
    case NUMBER:
      return dump(a) === dump(b)
    case STRING:
      return textOf(memory, a).equals(textOf(memory, b))
    case ARRAY:
      return isSameArray(word, isSame, a, b)
    case OBJECT:
      return isSameObject(word, isSame, a, b)
    default:
      return false
  }
}

function textOf({ bytes }: ModuleMemory, value: number): Buffer {
  const start = bytes.readUInt32LE(value + STRING_TEXT)
  return bytes.subarray(start, start + bytes.readUInt32LE(value + STRING_LENGTH))
}

type ReadWord = (address: number) => number
type Compare = (a: number, b: number) => boolean

/** An element is an index and a value. */
function isSameArray(word: ReadWord, isSame: Compare, a: number, b: number): boolean {
  const length = word(a + COUNT)
  if (length !== word(b + COUNT)) return false
  for (let offset = 0; offset < length * ELEMENT_BYTES; offset += ELEMENT_BYTES) {
    const [atA, atB] = [word(a + MEMBERS) + offset, word(b + MEMBERS) + offset]
    if (!isSame(word(atA), word(atB)) || !isSame(word(atA + MEMBER_VALUE), word(atB + MEMBER_VALUE)))
      return false
  }
  return true
}

function isSameObject(word: ReadWord, isSame: Compare, a: number, b: number): boolean {
  const buckets = word(a + COUNT)
  if (buckets !== word(b + COUNT) || word(a + OBJECT_LENGTH) !== word(b + OBJECT_LENGTH)) return false
  for (let offset = 0; offset < buckets * 4; offset += 4) {
    if (!isSameChain(word, isSame, word(word(a + MEMBERS) + offset), word(word(b + MEMBERS) + offset)))
      return false
  }
  return true
}

function isSameChain(word: ReadWord, isSame: Compare, a: number, b: number): boolean {
  let [first, second] = [a, b]
  while (first !== 0 && second !== 0) {
    if (
      !isSame(word(first), word(second)) ||
      !isSame(word(first + MEMBER_VALUE), word(second + MEMBER_VALUE))
    )
      return false
    first = word(first + NEXT_MEMBER)
    second = word(second + NEXT_MEMBER)
  }
  return first === second
}
