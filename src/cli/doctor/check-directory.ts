import { readdirSync, statSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

import { hasErrorCode, toError } from '../../errors/app-error.js'
import { checkDatabase, isClaimed, refuseNewer } from '../../main/store/database-files.js'
import { provenTrailEnd } from '../../main/store/stored-trail.js'
import { attempt, bad, ok, warning } from './finding.js'
import type { Finding } from './finding.js'

const MIB = 1024 * 1024
/** Less may not suffice for the events and decisions of a night. */
const LOW_SPACE_BYTES = 512 * MIB
const CRITICAL_SPACE_BYTES = 64 * MIB
const SECRET_FILES: readonly string[] = ['callback-secret', 'report-key']
const MIN_SECRET_BYTES = 16
/** Permissions of anyone but the owner. */
const OTHERS = 0o077
const DOWNGRADE =
  'to go back, restore a backup made with the older release: docs/operating.md, Upgrades and downgrades'
const RESTORE = 'stop the service, move the file away, and restore a backup (tidegate restore)'

/**
 * Checks a data directory, whether or not a service runs on it. `keepsRecords` is false if gates
 * and the trail are in a database. Changes only the lock file.
 */
export async function checkDataDirectory(dataDir: string, keepsRecords = true): Promise<Finding[]> {
  const names = namesIn(dataDir)
  if (!Array.isArray(names)) return [names]
  const databases = names.filter((name) => name.endsWith('.db'))
  const findings = [checkModes(dataDir, names), checkSpace(dataDir), await checkLock(dataDir)]
  for (const name of databases) findings.push(await checkDatabaseFile(dataDir, name))
  if (databases.includes('tidegate.db')) findings.push(await checkTrail(dataDir))
  else if (keepsRecords) {
    findings.push(warning('tidegate.db', 'not created yet', 'a service creates it when it first starts'))
  }
  return [...findings, ...checkSecrets(dataDir, names), ...checkDamagedFiles(names)]
}

function namesIn(dataDir: string): string[] | Finding {
  try {
    return readdirSync(dataDir)
  } catch (raw) {
    if (hasErrorCode(raw, 'ENOENT')) {
      return warning(
        'data directory',
        `${dataDir} not found`,
        'pass --data-dir DIR, or start the service, which creates it',
      )
    }
    return bad('data directory', toError(raw).message, 'run tidegate doctor as the user of the service')
  }
}

function checkModes(dataDir: string, names: readonly string[]): Finding {
  const open = ['.', ...names].filter((name) => {
    const stats = statSync(join(dataDir, name), { throwIfNoEntry: false })
    return stats !== undefined && (stats.isFile() || name === '.') && (stats.mode & OTHERS) !== 0
  })
  if (process.platform === 'win32' || open.length === 0) return ok('modes', 'only its owner can read it')
  // Nobody else can enter a private directory.
  if (!open.includes('.')) return ok('modes', 'only its owner can enter it')
  return warning('modes', `others may read or enter: ${open.join(', ')}`, `chmod -R go= ${dataDir}`)
}

function checkSpace(dataDir: string): Finding {
  const { bavail, bsize } = statfsSync(dataDir)
  const free = bavail * bsize
  const text = `${Math.round(free / MIB)} MiB free`
  const advice = 'free some space, or lower decisions.maxBytes and audit.maxBytes'
  if (free < CRITICAL_SPACE_BYTES) return bad('disk', text, advice)
  return free < LOW_SPACE_BYTES ? warning('disk', text, advice) : ok('disk', text)
}

function checkLock(dataDir: string): Promise<Finding> {
  return attempt('lock', 'check owner and mode of tidegate.lock', async () =>
    ok('lock', `${(await isClaimed(dataDir)) ? 'a' : 'no'} service runs on this directory`),
  )
}

async function checkDatabaseFile(dataDir: string, name: string): Promise<Finding> {
  const path = join(dataDir, name)
  const pages = await attempt(name, RESTORE, () => {
    checkDatabase(path)
    return ok(name, `intact, ${Math.ceil(statSync(path).size / MIB)} MiB`)
  })
  if (pages.state === 'bad') return pages
  return await attempt(name, DOWNGRADE, () => {
    refuseNewer(path)
    return pages
  })
}

function checkTrail(dataDir: string): Promise<Finding> {
  const advice = 'find the first bad record with tidegate audit verify --data-dir; keep the file as evidence'
  return attempt('trail', advice, async () =>
    ok('trail', `intact to its end ${await provenTrailEnd(dataDir)}`),
  )
}

/** A secret truncated by a full disk would be easy to guess. */
function checkSecrets(dataDir: string, names: readonly string[]): Finding[] {
  return SECRET_FILES.filter((name) => names.includes(name)).flatMap((name) => {
    const { size } = statSync(join(dataDir, name))
    const advice = 'remove it, and the service creates a new one; or restore it from a backup'
    return size >= MIN_SECRET_BYTES ? [] : [bad(name, `truncated to ${size} bytes`, advice)]
  })
}

function checkDamagedFiles(names: readonly string[]): Finding[] {
  const damaged = names.filter((name) => /\.damaged-[^-]*$/.test(name))
  if (damaged.length === 0) return []
  const advice = 'inspect and then remove them; the service reports them until then'
  return [warning('damaged files', `renamed: ${damaged.join(', ')}`, advice)]
}
