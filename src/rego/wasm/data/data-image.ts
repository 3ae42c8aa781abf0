import { compareStrings } from '../../../lib/text/compare-strings.js'
import { PRINT_GO_JSON } from '../../values/print-go-json.js'
import { printJson } from '../../values/print-text.js'
import { RegoNumber, RegoObject } from '../../values/value.js'
import type { RegoArray, RegoEntries, RegoValue } from '../../values/value.js'
import {
  ARRAY,
  COUNT,
  ELEMENT_BYTES,
  INTEGER,
  INTEGER_VALUE,
  INTERNED_BOOLEAN,
  MEMBERS,
  MEMBER_VALUE,
  NEXT_MEMBER,
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
import { printImage, printImageAsGo } from './print-image.js'
import { visitMembers } from './visit-members.js'

/**
 * Base documents as runtime values of a policy module, ready to be copied into its memory. Plain
 * data that all instances and threads share.
 */
export interface DataImage {
  /** In shared memory once the image is finished. */
  readonly bytes: Uint8Array
  readonly base: number
  readonly root: number
}

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193
const DIGITS = /^\d+$/

type PlacedBytes = Pick<DataImage, 'bytes' | 'base'>

/** Called for each value and key that is read. May throw to stop the reading. */
export type CountRead = () => void

/** Returns `data` as a lazy object: members are read when they are accessed. */
export function dataOf(image: DataImage, count?: CountRead): RegoObject {
  const root = valueAt(image, image.root, count)
  return root instanceof RegoObject ? root : new RegoObject([])
}

/** Returns the value at an address. Members of containers are read on access. */
export function valueAt(image: PlacedBytes, address: number, count?: CountRead): RegoValue {
  return new ImageReader(image, count).valueAt(address)
}

/** Prints a part of `data` as `printJson` does, without creating values. */
export function printData(data: RegoObject): Uint8Array {
  return data instanceof ImageObject ? data.print() : Buffer.from(printJson(data))
}

/** Returns the keys and addresses of an object's members; undefined for other values. */
export function membersAt(image: PlacedBytes, address: number): (readonly [string, number])[] | undefined {
  return new ImageReader(image).membersAt(address)
}

export function isObjectAt({ bytes, base }: PlacedBytes, address: number): boolean {
  return bytes[address - base] === OBJECT
}

/** Reads values on each access, so that large documents stay off the JavaScript heap. */
class ImageReader {
  readonly #bytes: Buffer
  readonly #base: number
  readonly #count: CountRead | undefined

  constructor({ bytes, base }: PlacedBytes, count?: CountRead) {
    this.#count = count
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#base = base
  }

  valueAt(address: number): RegoValue {
    this.#count?.()
    const at = address - this.#base
    const head = this.#bytes.readUInt16LE(at)
    switch (head & 0xff) {
      case INTERNED_BOOLEAN:
        return head === TRUE
      case NUMBER:
        return this.#numberAt(address, head)
      case STRING:
        return this.#textAt(this.#word(address + STRING_TEXT), this.#word(address + STRING_LENGTH))
      case ARRAY:
        return this.#elementsOf(address)
      case OBJECT:
        return new ImageObject(this, address)
      default:
        return null
    }
  }

  membersAt(address: number): (readonly [string, number])[] | undefined {
    if (this.#bytes.readUInt8(address - this.#base) !== OBJECT) return undefined
    const members: [string, number][] = []
    const take = (member: number): void => {
      this.#count?.()
      members.push([this.#keyOf(member), this.#word(member + MEMBER_VALUE)])
    }
    visitMembers(address, (at) => this.#word(at), take)
    return members
  }

  entriesOf(object: number): RegoEntries {
    return (this.membersAt(object) ?? [])
      .sort(([a], [b]) => compareStrings(a, b))
      .map(([key, address]) => [key, this.valueAt(address)] as const)
  }

  keysOf(object: number): string[] {
    return (this.membersAt(object) ?? []).map(([key]) => key).sort(compareStrings)
  }

  sizeOf(object: number): number {
    return this.#word(object + OBJECT_LENGTH)
  }

  /** Returns the address of a member's value; undefined if there is no such member. */
  memberOf(object: number, key: string): number | undefined {
    const buckets = this.#word(object + COUNT)
    const bucket = hashText(Buffer.from(key)) & (buckets - 1)
    let member = this.#word(this.#word(object + MEMBERS) + bucket * 4)
    while (member !== 0 && this.#keyOf(member) !== key) member = this.#word(member + NEXT_MEMBER)
    return member === 0 ? undefined : this.#word(member + MEMBER_VALUE)
  }

  print(address: number): Uint8Array {
    return printImage({ bytes: this.#bytes, base: this.#base }, address)
  }

  printAsGo(address: number): string {
    return printImageAsGo({ bytes: this.#bytes, base: this.#base }, address, this.#count)
  }

  #numberAt(address: number, head: number): RegoNumber {
    if (head === INTEGER)
      return new RegoNumber(String(this.#bytes.readBigInt64LE(address - this.#base + INTEGER_VALUE)))
    return new RegoNumber(
      this.#textAt(this.#word(address + NUMBER_TEXT), this.#word(address + NUMBER_LENGTH)),
    )
  }

  /** Returns a lazy array. Accessing one of millions of elements must not read all of them. */
  #elementsOf(array: number): RegoArray {
    const [elements, length] = [this.#word(array + MEMBERS), this.#word(array + COUNT)]
    const print = (): string => this.printAsGo(array)
    const hasElement = (name: string | symbol): name is string =>
      typeof name === 'string' && DIGITS.test(name) && Number(name) < length
    return new Proxy<RegoArray>([], {
      has: (target, name) => name === PRINT_GO_JSON || hasElement(name) || name in target,
      get: (target, name) => {
        if (name === 'length') return length
        if (name === PRINT_GO_JSON) return print
        if (!hasElement(name)) return Reflect.get(target, name) as unknown
        return this.valueAt(this.#word(elements + Number(name) * ELEMENT_BYTES + MEMBER_VALUE))
      },
    })
  }

  #keyOf(member: number): string {
    const key = this.#word(member)
    return this.#textAt(this.#word(key + STRING_TEXT), this.#word(key + STRING_LENGTH))
  }

  #word(address: number): number {
    return this.#bytes.readUInt32LE(address - this.#base)
  }

  #textAt(address: number, length: number): string {
    const start = address - this.#base
    return this.#bytes.toString('utf8', start, start + length)
  }
}

class ImageObject extends RegoObject {
  readonly #reader: ImageReader
  readonly #address: number

  constructor(reader: ImageReader, address: number) {
    super([])
    this.#reader = reader
    this.#address = address
  }

  override get entries(): RegoEntries {
    return this.#reader.entriesOf(this.#address)
  }

  override get keys(): readonly RegoValue[] {
    return this.#reader.keysOf(this.#address)
  }

  override get size(): number {
    return this.#reader.sizeOf(this.#address)
  }

  override get(key: RegoValue): RegoValue | undefined {
    const member = this.#memberOf(key)
    return member === undefined ? undefined : this.#reader.valueAt(member)
  }

  override has(key: RegoValue): boolean {
    return this.#memberOf(key) !== undefined
  }

  print(): Uint8Array {
    return this.#reader.print(this.#address)
  }

  [PRINT_GO_JSON](): string {
    return this.#reader.printAsGo(this.#address)
  }

  #memberOf(key: RegoValue): number | undefined {
    return typeof key === 'string' ? this.#reader.memberOf(this.#address, key) : undefined
  }
}

/** FNV-1 with 32 bits, as the runtime hashes strings. */
function hashText(text: Uint8Array): number {
  let hash = FNV_OFFSET
  for (const byte of text) hash = Math.imul(hash, FNV_PRIME) ^ byte
  return hash >>> 0
}
