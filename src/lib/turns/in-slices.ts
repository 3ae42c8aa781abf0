import { setImmediate } from 'node:timers/promises'

/** Takes a millisecond or so to copy. */
const SLICE_BYTES = 2 * 1024 * 1024

/** Does work on so many bytes in slices, from their beginning; between two of them the thread does what else there is to do. */
export async function inSlices(bytes: number, work: (start: number, end: number) => void): Promise<void> {
  for (let start = 0; start < bytes; start += SLICE_BYTES) {
    if (start > 0) await setImmediate()
    work(start, Math.min(start + SLICE_BYTES, bytes))
  }
}

/** The same bytes in memory that threads share: those given, where they are. */
export async function toSharedBytes(bytes: Uint8Array): Promise<Uint8Array> {
  if (bytes.buffer instanceof SharedArrayBuffer) return bytes
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length))
  await inSlices(bytes.length, (start, end) => shared.set(bytes.subarray(start, end), start))
  return shared
}
