import { readdirSync, statSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

import { hasErrorCode, toError } from '../../errors/app-error.js'
import { checkDatabase, isClaimed, refuseNewer } from '../../main/store/database-files.js'
import { provenTrailEnd } from '../../main/store/stored-trail.js'
import { attempt, bad, ok, warning } from './finding.js'
import type { Finding } from './finding.js'

const MIB = 1024 * 1024
/** Below this a night's events and decisions may not fit any more. */
const LITTLE_SPACE_BYTES = 512 * MIB
const NO_SPACE_BYTES = 64 * MIB
const SECRET_FILES: readonly string[] = ['callback-secret', 'report-key']
const LEAST_SECRET_BYTES = 16
/** What anybody but the owner may do. */
const OTHERS = 0o077
const GO_BACK = 'an older release starts again on a backup of its own time: docs/guides/upgrade.md'
const RESTORE = 'stop the service, move the file away, and restore a backup (tidegate restore)'

/**
 * Looks at a data directory, whether or not a service runs on it; `keepsRecords` where gates and the trail are not in a database. Changes
 * nothing in it but the lock file.
 */
export async function lookAtDirectory(dataDir: string, keepsRecords = true): Promise<Finding[]> {
  const names = namesIn(dataDir)
  if (!Array.isArray(names)) return [names]
  const databases = names.filter((name) => name.endsWith('.db'))
  const findings = [lookAtMode(dataDir, names), lookAtSpace(dataDir), await lookAtOwner(dataDir)]
  for (const name of databases) findings.push(await lookAtDatabase(dataDir, name))
  if (databases.includes('tidegate.db')) findings.push(await lookAtTrail(dataDir))
  else if (keepsRecords) {
    findings.push(warning('tidegate.db', 'there is none yet', 'a service makes it at its first start'))
  }
  return [...findings, ...lookAtSecrets(dataDir, names), ...lookAtLeftovers(names)]
}

function namesIn(dataDir: string): string[] | Finding {
  try {
    return readdirSync(dataDir)
  } catch (raw) {
    if (hasErrorCode(raw, 'ENOENT')) {
      return warning(
        'data directory',
        `${dataDir} is not there`,
        'name it with --data-dir, or start the service: it makes it',
      )
    }
    return bad('data directory', toError(raw).message, 'run tidegate doctor as the user of the service')
  }
}

function lookAtMode(dataDir: string, names: readonly string[]): Finding {
  const open = ['.', ...names].filter((name) => {
    const stats = statSync(join(dataDir, name), { throwIfNoEntry: false })
    return stats !== undefined && (stats.isFile() || name === '.') && (stats.mode & OTHERS) !== 0
  })
  if (process.platform === 'win32' || open.length === 0) return ok('modes', 'its owner alone can read it')
  // A closed directory keeps others from what is in it.
  if (!open.includes('.')) return ok('modes', 'its owner alone can enter it')
  return warning('modes', `others may read or enter: ${open.join(', ')}`, `chmod -R go= ${dataDir}`)
}

function lookAtSpace(dataDir: string): Finding {
  const { bavail, bsize } = statfsSync(dataDir)
  const free = bavail * bsize
  const text = `${Math.round(free / MIB)} MiB are free`
  const advice = 'free some, or lower decisions.maxBytes and audit.maxBytes'
  if (free < NO_SPACE_BYTES) return bad('disk', text, advice)
  return free < LITTLE_SPACE_BYTES ? warning('disk', text, advice) : ok('disk', text)
}

function lookAtOwner(dataDir: string): Promise<Finding> {
  return attempt('lock', 'check owner and mode of tidegate.lock', async () =>
    ok('lock', `${(await isClaimed(dataDir)) ? 'a' : 'no'} service runs on this directory`),
  )
}

async function lookAtDatabase(dataDir: string, name: string): Promise<Finding> {
  const path = join(dataDir, name)
  const pages = await attempt(name, RESTORE, () => {
    checkDatabase(path)
    return ok(name, `every page is right, ${Math.ceil(statSync(path).size / MIB)} MiB`)
  })
  if (pages.state === 'bad') return pages
  return await attempt(name, GO_BACK, () => {
    refuseNewer(path)
    return pages
  })
}

function lookAtTrail(dataDir: string): Promise<Finding> {
  const advice = 'tidegate audit verify --data-dir tells the first bad record; keep the file as evidence'
  return attempt('trail', advice, async () =>
    ok('trail', `intact to its end ${await provenTrailEnd(dataDir)}`),
  )
}

/** What a full disk left of a secret signs for everybody. */
function lookAtSecrets(dataDir: string, names: readonly string[]): Finding[] {
  return SECRET_FILES.filter((name) => names.includes(name)).flatMap((name) => {
    const { size } = statSync(join(dataDir, name))
    const advice = 'remove it, and a new one is made; or put the one of a backup there'
    return size >= LEAST_SECRET_BYTES ? [] : [bad(name, `it holds no secret, but ${size} bytes`, advice)]
  })
}

function lookAtLeftovers(names: readonly string[]): Finding[] {
  const damaged = names.filter((name) => /\.damaged-[^-]*$/.test(name))
  if (damaged.length === 0) return []
  const advice = 'look at what is in them, then remove them: the service goes on telling of them until then'
  return [warning('damaged files', `renamed: ${damaged.join(', ')}`, advice)]
}
