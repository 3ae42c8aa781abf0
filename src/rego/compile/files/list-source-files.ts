import type { Dirent, Stats } from 'node:fs'
import { basename, join } from 'node:path'

import { AppError, hasErrorCode, toError } from '../../../errors/app-error.js'
import { versionText } from '../../../lib/file-version.js'
import { inGroups } from '../../../lib/turns/in-groups.js'
import { readEntries, statOf } from '../../../lib/read-files.js'

const DATA_FILES: readonly string[] = ['data.json', 'data.yaml', 'data.yml']
const MAYBE_DATA = /\.(?:json|ya?ml)$/

/** A file of policies. */
export interface SourceFile {
  readonly file: string
  /** A text that differs when the file is replaced, renamed or written. */
  readonly version: string
}

/** True for the file name of a data file. */
export function isDataFile(file: string): boolean {
  return DATA_FILES.includes(basename(file))
}

/** True for any JSON or YAML file. */
export function isMaybeData(file: string): boolean {
  return MAYBE_DATA.test(file)
}

/** True if a change of this file can change the policies. */
export function isSourceFile(file: string): boolean {
  return file.endsWith('.rego') || isDataFile(file)
}

/** The contents of a path. */
export interface SourceTree {
  /** The Rego and data files, sorted, so that the compiled module is reproducible. */
  readonly sources: readonly SourceFile[]
  /**
   * Files that OPA would load from the same directory: hidden Rego, and JSON and YAML with other
   * names than data files.
   */
  readonly passedOver: readonly string[]
  /**
   * Paths whose watches together report every change: the path itself, each directory, and the
   * targets of links.
   */
  readonly watchable: readonly string[]
}

/**
 * Lists a directory, or a single file of any name, without hidden files and `node_modules`. Raises
 * `invalid` for a path that cannot be read, is not a regular file, or links to a directory above
 * it.
 */
export async function listSourceTree(path: string): Promise<SourceTree> {
  const found = await listBelow(path, [], true)
  return {
    sources: found.filter((entry) => 'version' in entry),
    passedOver: found.flatMap((entry) => ('passedOver' in entry ? [entry.passedOver] : [])),
    watchable: [path, ...found.flatMap((entry) => ('watchable' in entry ? [entry.watchable] : []))],
  }
}

/** A source file, a skipped file, or a path to watch. */
type Found = SourceFile | { readonly passedOver: string } | { readonly watchable: string }

/** `above` are the parent directories, outermost first. */
async function listBelow(path: string, above: readonly string[], isRoot: boolean): Promise<Found[]> {
  try {
    const found = await statOf(path)
    if (found.isDirectory()) {
      await refuseCircle(path, found, above)
      return await listDirectory(path, above)
    }
    if (!isRoot && !isSourceFile(path)) return found.isFile() ? passedOver(path) : []
    if (found.isFile()) return [{ file: path, version: versionText(found) }]
    throw new AppError('invalid', `read policies: ${path} is neither a file nor a directory`)
  } catch (raw) {
    throw unreadable(path, raw)
  }
}

async function listDirectory(path: string, above: readonly string[]): Promise<Found[]> {
  const entries = (await readEntries(path)).sort((a, b) => (a.name < b.name ? -1 : 1))
  const hidden = entries.filter(({ name }) => name.startsWith('.') && name.endsWith('.rego'))
  const within = [...above, path]
  const shown = entries.filter(({ name }) => !name.startsWith('.') && name !== 'node_modules')
  const nested = await inGroups(shown, (entry) => listEntry(join(path, entry.name), entry, within))
  return [
    { watchable: path },
    ...nested.flat(),
    ...hidden.map(({ name }) => ({ passedOver: join(path, name) })),
  ]
}

/** Lists an entry, using its type from the directory if possible. */
async function listEntry(path: string, entry: Dirent, above: readonly string[]): Promise<Found[]> {
  if (entry.isFile() && !isSourceFile(path)) return passedOver(path)
  if (entry.isSymbolicLink()) return [{ watchable: path }, ...(await listBelow(path, above, false))]
  if (!entry.isDirectory()) return await listBelow(path, above, false)
  return await listDirectory(path, above).catch((raw: unknown) => {
    throw unreadable(path, raw)
  })
}

function passedOver(path: string): Found[] {
  return isMaybeData(path) ? [{ passedOver: path }] : []
}

/** Only a link can lead to a directory above itself. */
async function refuseCircle(path: string, found: Stats, above: readonly string[]): Promise<void> {
  const directories = await Promise.all(above.map((directory) => statOf(directory)))
  if (directories.some(({ dev, ino }) => dev === found.dev && ino === found.ino))
    throw new AppError('invalid', `read policies: ${path} is a link to a directory above it`)
}

/** Returns an error of reading a file or directory as an AppError with its path. */
export function unreadable(path: string, raw: unknown): AppError {
  if (raw instanceof AppError) return raw
  const { message } = toError(raw)
  // The error of Node.js for a file over 2 GiB has no path.
  const reason = hasErrorCode(raw, 'ENOENT')
    ? `${path} not found: name existing policies (policies.directories, --policies); the sample policies are next to the README.md of the package`
    : message.includes(path)
      ? message
      : `${path}: ${message}`
  return new AppError('invalid', `read policies: ${reason}`, { cause: { path, raw } })
}
