import type { ModuleMemory } from '../module/module-memory.js'
import type { PolicyExports } from '../module/policy-exports.js'
import {
  ARRAY,
  COUNT,
  DECIMAL,
  ELEMENT_BYTES,
  FALSE,
  INTERNED_BOOLEAN,
  MEMBER_VALUE,
  MEMBERS,
  NEXT_MEMBER,
  NULL,
  NUMBER,
  NUMBER_LENGTH,
  NUMBER_TEXT,
  OBJECT,
  OBJECT_LENGTH,
  STRING,
  STRING_LENGTH,
  STRING_TEXT,
  TRUE,
} from '../module/value-layout.js'
import type { InputReader } from './input-reader.js'

/** Inputs of the comparison: a module, the reader in its memory, and the start of the free heap. */
export interface ReadingPair {
  readonly memory: ModuleMemory
  readonly policy: PolicyExports
  readonly reader: InputReader
  readonly heapStart: number
}

/** Requested sizes of blocks and the sizes that the reader expects. */
const BLOCK_SIZES: readonly (readonly [requested: number, given: number])[] = [
  [1, 4],
  [5, 8],
  [12, 16],
  [32, 64],
  [96, 96],
]
const BLOCK_HEADER_BYTES = 12
const A_DECIMAL = '1.5'

/**
 * Returns true if the reader creates the same structures for sample documents as the module's own
 * parser. Runtimes of other versions may have another memory layout; their own parser is then used.
 */
export function hasKnownLayout(pair: ReadingPair): boolean {
  try {
    return (
      allocatesAsExpected(pair) &&
      writesAsExpected(pair) &&
      samples().every((text) => isReadEqually(pair, Buffer.from(text)))
    )
  } catch {
    // With another layout, addresses may be out of range.
    return false
  } finally {
    pair.policy.opa_heap_ptr_set(pair.heapStart)
  }
}

function allocatesAsExpected({ memory, policy, heapStart }: ReadingPair): boolean {
  policy.opa_heap_ptr_set(heapStart)
  let expected = heapStart
  return BLOCK_SIZES.every(([requested, given]) => {
    expected += BLOCK_HEADER_BYTES
    const address = policy.opa_malloc(requested)
    const isExpected =
      address === expected && memory.bytes.readUInt32LE(address - BLOCK_HEADER_BYTES) === given
    expected += given
    return isExpected
  })
}

/** Returns true if scalars have the layout in which `assembly/data` builds base documents. */
function writesAsExpected({ memory, policy }: ReadingPair): boolean {
  const parsed = (text: string): number => {
    const copy = policy.opa_malloc(text.length)
    memory.place(Buffer.from(text), copy)
    return policy.opa_json_parse(copy, text.length)
  }
  const head = (address: number): number => memory.bytes.readUInt16LE(address)
  const number = parsed(A_DECIMAL)
  const text = memory.bytes.readUInt32LE(number + NUMBER_TEXT)
  return (
    head(parsed('true')) === TRUE &&
    head(parsed('false')) === FALSE &&
    head(number) === DECIMAL &&
    memory.bytes.readUInt32LE(number + NUMBER_LENGTH) === A_DECIMAL.length &&
    memory.textAt(text, A_DECIMAL.length) === A_DECIMAL
  )
}

function isReadEqually(pair: ReadingPair, document: Buffer): boolean {
  const { memory, policy, reader, heapStart } = pair
  memory.place(document, heapStart)
  const read = reader.readDocument(heapStart, document.length)
  if (read === 0) return false
  reader.finish()
  const copy = policy.opa_malloc(document.length)
  memory.place(document, copy)
  const parsed = policy.opa_json_parse(copy, document.length)
  const dump = (value: number): string => memory.textAt(policy.opa_value_dump(value))
  return dump(read) === dump(parsed) && isSameValue(memory, dump, read, parsed)
}

const NUMBERS =
  '[0,-0,1,-1,9,10,255,1234567890123,123456789012345678,-123456789012345678,12345678901234567890]'
const FRACTIONS = '[1.5,-0.25,1e3,1E-2,0.1e+2,100.00,12345678901234567890.123456789]'
const TEXTS = '["","a","0123456789abcdef","ä€😀","\\u00e4\\ud83d\\ude00","\\"\\\\\\/\\b\\f\\n\\r\\t"]'

/** One of each shape, and objects just below and above every growth of their tables. */
const samples = (): readonly string[] => [
  'null',
  'true',
  '"text"',
  '[false,true,null,[],{}]',
  NUMBERS,
  FRACTIONS,
  TEXTS,
  '{"a":1,"b":{"c":[{"d":"e"}]},"a":2,"\\u0062":3}',
  ...[1, 5, 6, 11, 12, 22, 23, 44, 45, 300].map(wideObject),
  `[${Array.from({ length: 40 }, (_, index) => `{"id":${index},"name":"stage ${index}"}`).join(',')}]`,
]

function wideObject(size: number): string {
  const members = Array.from({ length: size }, (_, index) => [`key-${index * 7}`, index])
  return JSON.stringify(Object.fromEntries(members))
}

/**
 * Returns true if two values have the same layout: equal values with every element at the same
 * position. Numbers are compared by their text (`dump`), since the runtime has two forms of them.
 * Throws RangeError for an address outside of the memory.
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
