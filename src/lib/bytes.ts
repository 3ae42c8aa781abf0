const POLYNOMIAL = 0xedb88320

/** The CRC-32 of bytes and of those behind them, from the CRC-32 of each and the length of the second. */
export function combineCrc32(before: number, after: number, length: number): number {
  // A byte of zeros is a linear map of the 32 bits, as a matrix of columns; its powers are squared along with the bits of the length.
  let map = Uint32Array.from({ length: 32 }, (_, bit) => crcBehindZero(2 ** bit))
  let value = before
  for (let rest = length; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) value = applied(map, value)
    map = map.map((column) => applied(map, column))
  }
  return (value ^ after) >>> 0
}

function crcBehindZero(value: number): number {
  let rest = value
  for (let bit = 0; bit < 8; bit++) rest = (rest & 1) === 0 ? rest >>> 1 : (rest >>> 1) ^ POLYNOMIAL
  return rest >>> 0
}

function applied(map: Uint32Array, value: number): number {
  return map.reduce((sum, column, bit) => (((value >>> bit) & 1) === 0 ? sum : (sum ^ column) >>> 0), 0)
}

/** The same memory as a Buffer. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Smaller memory costs V8 less to collect than to free. */
const MIN_FREED_BYTES = 16 * 1024

/**
 * Frees the memory of bytes that nothing reads again. V8 finds such memory only when it marks the whole heap, which it does for
 * every few of the large bodies that come. Does nothing where the memory holds other bytes too.
 */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  const isAlone = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
  if (isAlone && byteLength >= MIN_FREED_BYTES) buffer.transfer(0)
}
