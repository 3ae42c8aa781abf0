import { open } from 'node:fs/promises'

/** Of one read: the pages that it fills are the system's to zero and copy, in a thread of node's pool. */
const PIECE_BYTES = 8 * 1024 * 1024

/** The bytes of a file in memory that threads share, read straight into it: the calling thread copies none. Raises the system's error where it cannot be read, and an error where it becomes shorter meanwhile. */
export async function readSharedFile(path: string): Promise<Uint8Array> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const bytes = new Uint8Array(new SharedArrayBuffer(size))
    for (let at = 0; at < size;) {
      const { bytesRead } = await file.read(bytes, at, Math.min(PIECE_BYTES, size - at), at)
      if (bytesRead === 0) throw new Error(`${path} became shorter while it was read`)
      at += bytesRead
    }
    return bytes
  } finally {
    await file.close()
  }
}
