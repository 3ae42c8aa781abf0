import { auditReads } from '../../audit/audit-operations.js'
import { verifyTrail } from '../../audit/verify-trail.js'
import type { Verification, VerifyOptions } from '../../audit/verify-trail.js'
import type { Config } from '../../config/config.js'
import { AppError } from '../../errors/app-error.js'
import { operationRegistry } from '../../store/ports/operation.js'
import type { Readers } from '../../store/ports/readers.js'
import { configuredLocation } from './inspect-store.js'
import { openReader } from './open-store.js'
import { inDataDirectory } from './store-location.js'
import type { StoreLocation } from './store-location.js'

/** Verifies the stored trail, whether or not a service runs. Throws as `openReader`. */
export async function verifyStoredTrail(
  location: StoreLocation,
  options: Omit<VerifyOptions, 'reader'> = {},
): Promise<Verification> {
  const { reader, close } = await openReader(location, operationRegistry<Readers>(auditReads))
  try {
    return await verifyTrail({ reader, ...options })
  } finally {
    await close()
  }
}

/**
 * Verifies the trail in a folder and returns the number and hash of its last record in the form of
 * `--expected`. Throws `unavailable` if it is not intact.
 */
export function provenTrailEnd(folder: string): Promise<string> {
  return provenEnd(inDataDirectory(folder), folder)
}

/** As `provenTrailEnd`, for the database of a configuration. */
export function databaseTrailEnd(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  return provenEnd(configuredLocation(config, env), 'the database')
}

async function provenEnd(location: StoreLocation, place: string): Promise<string> {
  const { isIntact, problems, end } = await verifyStoredTrail(location)
  if (isIntact) return `${end.seq}:${end.hash}`
  throw new AppError('unavailable', `the audit trail in ${place} is not intact: ${problems.join('; ')}`)
}
