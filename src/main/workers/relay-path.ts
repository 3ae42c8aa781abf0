import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The longest path of a socket in bytes (sockaddr_un, macOS; Linux has four more); of a longer one the end is left out without a word. */
const MOST_PATH_BYTES = 103
const NAME = 'relay'
/** Where names are short on every system that has sockets in its file system. */
const SHORT_FOLDER = '/tmp'

/** Where the main process listens for its workers, and the folder that was made for that alone. */
export interface RelayPath {
  readonly path: string
  readonly ownFolder: string | undefined
}

/**
 * The path in a folder that only this service may enter; where that is too long, in a new folder of the system's for temporary files. Raises what
 * making it raises.
 */
export async function relayPathIn(folder: string): Promise<RelayPath> {
  const path = join(folder, NAME)
  if (isShort(path)) return { path, ownFolder: undefined }
  const parent = isShort(join(tmpdir(), 'tidegate-XXXXXX', NAME)) ? tmpdir() : SHORT_FOLDER
  const ownFolder = await mkdtemp(join(parent, 'tidegate-'))
  return { path: join(ownFolder, NAME), ownFolder }
}

function isShort(path: string): boolean {
  return Buffer.byteLength(path) <= MOST_PATH_BYTES
}
