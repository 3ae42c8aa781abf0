import type { ModuleMemory } from '../module/module-memory.js'

/** The types and offsets of OPA's values (value.h of OPA 0.70), as the reader lays them out too. */
const TYPE = { null: 1, number: 3, string: 4, array: 5, object: 6, sharedBoolean: 9 } as const
const ELEMENT_BYTES = 8
const NEXT_OFFSET = 8

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
    case TYPE.null:
      return true
    case TYPE.sharedBoolean:
      return memory.bytes[a + 1] === memory.bytes[b + 1]
    case TYPE.number:
      return dump(a) === dump(b)
    case TYPE.string:
      return textOf(memory, a).equals(textOf(memory, b))
    case TYPE.array:
      return isSameArray(word, isSame, a, b)
    case TYPE.object:
      return isSameObject(word, isSame, a, b)
    default:
      return false
  }
}

function textOf({ bytes }: ModuleMemory, value: number): Buffer {
  const start = bytes.readUInt32LE(value + 8)
  return bytes.subarray(start, start + bytes.readUInt32LE(value + 4))
}

type ReadWord = (address: number) => number
type Compare = (a: number, b: number) => boolean

/** An element is an index and a value. */
function isSameArray(word: ReadWord, isSame: Compare, a: number, b: number): boolean {
  const length = word(a + 8)
  if (length !== word(b + 8)) return false
  for (let offset = 0; offset < length * ELEMENT_BYTES; offset += ELEMENT_BYTES) {
    const [atA, atB] = [word(a + 4) + offset, word(b + 4) + offset]
    if (!isSame(word(atA), word(atB)) || !isSame(word(atA + 4), word(atB + 4))) return false
  }
  return true
}

function isSameObject(word: ReadWord, isSame: Compare, a: number, b: number): boolean {
  const buckets = word(a + 8)
  if (buckets !== word(b + 8) || word(a + 12) !== word(b + 12)) return false
  for (let offset = 0; offset < buckets * 4; offset += 4) {
    if (!isSameChain(word, isSame, word(word(a + 4) + offset), word(word(b + 4) + offset))) return false
  }
  return true
}

function isSameChain(word: ReadWord, isSame: Compare, a: number, b: number): boolean {
  let [first, second] = [a, b]
  while (first !== 0 && second !== 0) {
    if (!isSame(word(first), word(second)) || !isSame(word(first + 4), word(second + 4))) return false
    first = word(first + NEXT_OFFSET)
    second = word(second + NEXT_OFFSET)
  }
  return first === second
}
