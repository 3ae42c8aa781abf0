import type { Dirent, Stats } from 'node:fs'
import { basename, join } from 'node:path'

import { AppError, hasErrorCode, toError } from '../../../errors/app-error.js'
import { versionText } from '../../../lib/file-version.js'
import { inGroups } from '../../../lib/turns/in-groups.js'
import { readEntries, statOf } from '../../../lib/read-files.js'

const DATA_FILES: readonly string[] = ['data.json', 'data.yaml', 'data.yml']
const MAYBE_DATA = /\.(?:json|ya?ml)$/

/** A file that policies are read from. */
export interface SourceFile {
  readonly file: string
  /** Another text as soon as it is another file, or was written, replaced or renamed. */
  readonly version: string
}

/** Whether a file of this name holds base documents. */
export function isDataFile(file: string): boolean {
  return DATA_FILES.includes(basename(file))
}

/** Whether a file holds JSON or YAML, whatever it is called. */
export function isMaybeData(file: string): boolean {
  return MAYBE_DATA.test(file)
}

/** Whether a change of this file can change what policies are made of. */
export function isSourceFile(file: string): boolean {
  return file.endsWith('.rego') || isDataFile(file)
}

/** What there is below a path. */
export interface SourceTree {
  /** The Rego and data files, sorted, so that compiling the same tree twice gives the same module. */
  readonly sources: readonly SourceFile[]
  /** What OPA would read of the same directory: hidden Rego, and JSON and YAML of other names than those of data. */
  readonly passedOver: readonly string[]
  /** What tells together of every change: the path itself, each directory, and what a link leads to. */
  readonly watchable: readonly string[]
}

/**
 * Looks through a directory; a path that is a file is taken whatever its name. Hidden files and `node_modules` are left out. Raises
 * `invalid` for what cannot be read, is no regular file, or leads back to a directory above it.
 */
export async function listSourceTree(path: string): Promise<SourceTree> {
  const found = await listBelow(path, [], true)
  return {
    sources: found.filter((entry) => 'version' in entry),
    passedOver: found.flatMap((entry) => ('passedOver' in entry ? [entry.passedOver] : [])),
    watchable: [path, ...found.flatMap((entry) => ('watchable' in entry ? [entry.watchable] : []))],
  }
}

/** A file that is read, one that is not, or what tells of changes. */
type Found = SourceFile | { readonly passedOver: string } | { readonly watchable: string }

/** `above` are the directories that it is in, from the outermost. */
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

/** As `listBelow`, of what the directory tells enough about. */
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

/** Only a link leads back above itself. */
async function refuseCircle(path: string, found: Stats, above: readonly string[]): Promise<void> {
  const directories = await Promise.all(above.map((directory) => statOf(directory)))
  if (directories.some(({ dev, ino }) => dev === found.dev && ino === found.ino))
    throw new AppError('invalid', `read policies: ${path} is a link to a directory above it`)
}

/** What was raised when a file or directory of policies was read, as an AppError that names it. */
export function unreadable(path: string, raw: unknown): AppError {
  if (raw instanceof AppError) return raw
  const advice = hasErrorCode(raw, 'ENOENT')
    ? ': name policies that are there (policies.directories, --policies); those of the package lie beside its README.md'
    : ''
  const { message } = toError(raw)
  // What Node.js says of a file over 2 GiB names none.
  const told = message.includes(path) ? message : `${path}: ${message}`
  return new AppError('invalid', `read policies: ${told}${advice}`, { cause: { path, raw } })
}
