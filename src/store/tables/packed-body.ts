import { deflateRawSync, inflateRawSync } from 'node:zlib'

/**
 * Size up to which a body is a single small event. In larger bodies, repetitions are farther apart.
 */
const SMALL_BYTES = 16 * 1024
/** A window of 4 KiB takes a third of the time to set up that one of 32 KiB takes. */
const SMALL = { level: 3, memLevel: 6, windowBits: 12 }
const LARGE = { level: 1 }

/** Deflates a body for storage. */
export function packBody(body: Uint8Array): Buffer {
  return deflateRawSync(body, body.byteLength <= SMALL_BYTES ? SMALL : LARGE)
}

/** Inflates a body of `bytes` bytes. */
export function unpackBody(packed: Uint8Array, bytes: number): Buffer {
  return inflateRawSync(packed, bytes <= SMALL_BYTES ? { windowBits: SMALL.windowBits } : {})
}
