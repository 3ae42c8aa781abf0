import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** Up to this size a body is one event like any other; beyond it repeats stand farther apart. */
const SMALL_BYTES = 16 * 1024
/** A window of 4 KiB is set up in a third of the time that one of 32 KiB takes. */
const SMALL = { level: 3, memLevel: 6, windowBits: 12 }
const LARGE = { level: 1 }

/** A body as it is stored. */
export function packBody(body: Uint8Array): Buffer {
  return deflateRawSync(body, body.byteLength <= SMALL_BYTES ? SMALL : LARGE)
}

/** The body again, of this many bytes. */
export function unpackBody(packed: Uint8Array, bytes: number): Buffer {
  return inflateRawSync(packed, bytes <= SMALL_BYTES ? { windowBits: SMALL.windowBits } : {})
}
