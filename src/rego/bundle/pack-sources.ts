import { AppError, toError } from '../../errors/app-error.js'
import { MANIFEST_FILE, readOwnManifest } from '../archive/manifest.js'
import { packFiles } from '../archive/pack-files.js'

const GZIP_LEVEL = 6
const SIGNATURES_FILE = '.signatures.json'

/**
 * Packs Rego, data and a manifest as a bundle without a module. The revision is that of the
 * manifest, else the given one; signed files stay as they are. Raises `invalid` without any file and
 * for a malformed manifest.
 */
export async function packSources(files: ReadonlyMap<string, Buffer>, revision: string): Promise<Buffer> {
  if (files.size === 0) throw new AppError('invalid', 'there are no Rego and no data files')
  const manifest = files.get(MANIFEST_FILE)?.toString('utf8') ?? '{}'
  const hasRevision = (readOwnManifest(MANIFEST_FILE, manifest).revision ?? '') !== ''
  const packed = new Map(files)
  if (!hasRevision && !files.has(SIGNATURES_FILE)) {
    const own = parseObject(manifest)
    packed.set(MANIFEST_FILE, Buffer.from(JSON.stringify({ ...own, revision })))
  }
  const sorted = [...packed].sort(([a], [b]) => (a < b ? -1 : 1))
  return await packFiles(sorted, GZIP_LEVEL, { allowsAnyName: true })
}

function parseObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch (raw) {
    throw new AppError('invalid', `read ${MANIFEST_FILE}: ${toError(raw).message}`, { cause: raw })
  }
}
