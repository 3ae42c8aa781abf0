/** An element of DER (ITU-T X.690): its tag, what it holds, and all of its bytes. */
export interface DerElement {
  readonly tag: number
  readonly content: Buffer
  readonly raw: Buffer
}

/** Tags of the universal class (X.680, 8.4), as they are in the first byte of an element. */
export const DER = { integer: 0x02, utcTime: 0x17, generalizedTime: 0x18, sequence: 0x30, version: 0xa0 }

const LONG_FORM = 0x80
const MULTI_BYTE_TAG = 0x1f
const MAX_LENGTH_BYTES = 4

/** The elements that stand one behind the other. Raises an error for what is no DER. */
export function elementsIn(bytes: Buffer): DerElement[] {
  const elements: DerElement[] = []
  let at = 0
  while (at < bytes.length) {
    const element = elementAt(bytes, at)
    elements.push(element)
    at += element.raw.length
  }
  return elements
}

/** The elements of a sequence. Raises an error for anything else. */
export function sequenceOf(element: DerElement | undefined): DerElement[] {
  if (element?.tag !== DER.sequence) throw new Error('it holds no sequence where there must be one')
  return elementsIn(element.content)
}

function elementAt(bytes: Buffer, at: number): DerElement {
  const [tag = MULTI_BYTE_TAG, first = LONG_FORM] = bytes.subarray(at, at + 2)
  const lengthBytes = first < LONG_FORM ? 0 : first - LONG_FORM
  const start = at + 2 + lengthBytes
  const isReadable =
    (tag & MULTI_BYTE_TAG) !== MULTI_BYTE_TAG && first !== LONG_FORM && lengthBytes <= MAX_LENGTH_BYTES
  if (!isReadable || start > bytes.length) throw new Error('it is no DER')
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes)
  if (start + length > bytes.length) throw new Error('it is cut off')
  return { tag, content: bytes.subarray(start, start + length), raw: bytes.subarray(at, start + length) }
}

/** A time of a certificate or a list (RFC 5280, 4.1.2.5), in milliseconds since the epoch. Raises an error for anything else. */
export function timeOf({ tag, content }: DerElement): number {
  const text = content.toString('latin1')
  // Two digits of a year are those of 1950 to 2049.
  const full = tag === DER.utcTime ? `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}${text}` : text
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(full)
  if (parts === null) throw new Error('it holds a time that cannot be read')
  const [year = 0, month = 0, ...rest] = parts.slice(1).map(Number)
  return Date.UTC(year, month - 1, ...rest)
}
