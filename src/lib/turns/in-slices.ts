import { setImmediate } from 'node:timers/promises'

/** Takes about a millisecond to copy. */
const SLICE_BYTES = 2 * 1024 * 1024

/** Processes bytes in slices from the start. Other work runs between two slices. */
export async function inSlices(bytes: number, work: (start: number, end: number) => void): Promise<void> {
  for (let start = 0; start < bytes; start += SLICE_BYTES) {
    if (start > 0) await setImmediate()
    work(start, Math.min(start + SLICE_BYTES, bytes))
  }
}

/** Copies bytes to shared memory. Returns them unchanged if they are shared already. */
export async function toSharedBytes(bytes: Uint8Array): Promise<Uint8Array> {
  if (bytes.buffer instanceof SharedArrayBuffer) return bytes
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length))
  await inSlices(bytes.length, (start, end) => shared.set(bytes.subarray(start, end), start))
  return shared
}
