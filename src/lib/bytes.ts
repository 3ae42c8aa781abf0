const POLYNOMIAL = 0xedb88320
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = (value & 1) === 0 ? value >>> 1 : (value >>> 1) ^ POLYNOMIAL
  return value
})

/** The CRC-32 of gzip (RFC 1952, section 8) over what `before` covers and these bytes; Node has its own from 20.15 on only. */
export function crc32(bytes: Uint8Array, before = 0): number {
  let value = ~before
  for (const byte of bytes) value = (value >>> 8) ^ (TABLE[(value ^ byte) & 0xff] ?? 0)
  return ~value >>> 0
}

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
  return ((value >>> 8) ^ (TABLE[value & 0xff] ?? 0)) >>> 0
}

function applied(map: Uint32Array, value: number): number {
  return map.reduce((sum, column, bit) => (((value >>> bit) & 1) === 0 ? sum : (sum ^ column) >>> 0), 0)
}

/** The same memory as a Buffer. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
