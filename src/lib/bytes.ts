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
