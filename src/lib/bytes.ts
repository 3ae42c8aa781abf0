/** Returns the same memory as a Buffer. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Smaller blocks are cheaper to garbage-collect than to free. */
const MIN_FREED_BYTES = 16 * 1024

/**
 * Frees the memory of bytes that are no longer read. V8 would find it only by marking the whole
 * heap, which it does once per few large bodies. Does nothing if the memory also contains other
 * bytes.
 */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  const isAlone = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
  if (isAlone && byteLength >= MIN_FREED_BYTES) buffer.transfer(0)
}
