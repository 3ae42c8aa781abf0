import { existsSync } from 'node:fs'
import { basename, dirname } from 'node:path'

import { AppError } from '../../../errors/app-error.js'
import type { BatchWriter, DecisionReadStore } from '../../ports/decision-store.js'
import { decisionDatabaseOptions } from './decision-database.js'
import { openDecisionReader } from './decision-reader.js'
import { FileWatch } from '../engine/file-watch.js'
import { keptDatabase, lostFile } from '../engine/kept-files.js'
import type { KeptFile } from '../engine/kept-files.js'
import { migrate } from '../engine/migrate.js'
import { openDatabase } from '../engine/open-database.js'
import { renameDamaged, renameLeftovers } from '../engine/kept-files.js'
import { STORE_DAMAGED } from '../engine/sqlite-error.js'
import { decisionMigrations } from '../migrations/decisions.js'

/** `decisions.db`, open for writing and reading. */
export interface DecisionFiles<Batch, Receipt> {
  readonly writer: BatchWriter<Batch, Receipt>
  readonly store: DecisionReadStore
  readonly files: readonly KeptFile[]
  readonly watch: FileWatch
  /** New path of a damaged file, if there was one. */
  readonly damagedPath: string | undefined
}

/** The previously open files. */
export interface FormerFiles {
  readonly files: readonly KeptFile[]
  /** Whether the file is damaged, even if it can be opened. */
  readonly isDamaged: boolean
}

export interface OpenFilesOptions<Batch, Receipt> {
  readonly path: string
  readonly openWriter: () => Promise<BatchWriter<Batch, Receipt>>
  readonly changed: (problem: string | undefined) => void
  readonly nowMs: number
}

/**
 * Opens the decision log. A damaged file is renamed first, since it must not prevent decisions.
 * Raises AppError `unavailable` for a file that is locked, of another program or newer than this
 * release.
 */
export async function openDecisionFiles<Batch, Receipt>(
  options: OpenFilesOptions<Batch, Receipt>,
  former?: FormerFiles,
): Promise<DecisionFiles<Batch, Receipt>> {
  const { path, nowMs } = options
  if (former !== undefined && !existsSync(dirname(path))) {
    // The directory may be moved back.
    throw lostFile(`the directory of ${basename(path)} is not at its path any more: move it back there`)
  }
  let damagedPath: string | undefined
  if (former?.isDamaged === true) damagedPath = renameDamaged(path, nowMs)
  else if (former !== undefined) renameLeftovers(path, former.files, nowMs)
  try {
    await prepareDecisionDatabase(path)
  } catch (raw) {
    if (!(raw instanceof AppError) || raw.code !== STORE_DAMAGED) throw raw
    damagedPath = renameDamaged(path, nowMs)
    await prepareDecisionDatabase(path)
  }
  return { ...(await openSides(options)), damagedPath }
}

/**
 * Creates `decisions.db` if absent and migrates its schema. Raises AppError `unavailable`. In this
 * file, so that the writing thread does not load the migrations.
 */
export async function prepareDecisionDatabase(path: string): Promise<void> {
  const database = openDatabase(decisionDatabaseOptions(path))
  try {
    await migrate(database, decisionMigrations)
  } finally {
    database.close()
  }
}

async function openSides<Batch, Receipt>({
  path,
  openWriter,
  changed,
}: OpenFilesOptions<Batch, Receipt>): Promise<Omit<DecisionFiles<Batch, Receipt>, 'damagedPath'>> {
  const writer = await openWriter()
  try {
    const store = openDecisionReader(path)
    const files = keptDatabase(path)
    const { applicationId } = decisionDatabaseOptions(path)
    return { writer, store, files, watch: await FileWatch.open({ path, applicationId, files, changed }) }
  } catch (error) {
    // An open writer would keep the process alive after a failed start.
    await writer.close()
    throw error
  }
}

/**
 * Closes both sides and ignores errors. The writer is closed last: the last connection copies the
 * write-ahead log into the file.
 */
export async function closeDecisionFiles({
  writer,
  store,
  watch,
}: Pick<DecisionFiles<never, unknown>, 'writer' | 'store' | 'watch'>): Promise<void> {
  await store.close().catch(() => undefined)
  await writer.close().catch(() => undefined)
  await watch.close().catch(() => undefined)
}
