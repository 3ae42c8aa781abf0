/** More than V8 lets come outside of its heap between two collections before it begins to mark (64 MB, `kExternalAllocationSoftLimit`), in bytes. */
const PRESSURE_BYTES = 96 * 1024 * 1024

/**
 * Has V8 begin to mark the heap of the calling thread, in steps beside its work, so that what large memory was held by is found and the memory goes back to
 * the system. V8 does not count what is shared between threads, and a few objects that hold hundreds of megabytes are to it a few objects: it would wait for minutes of work, and
 * without any for ever. Memory that nothing is written to costs none, and goes with the rest.
 */
export function markSoon(): void {
  new ArrayBuffer(PRESSURE_BYTES)
}
