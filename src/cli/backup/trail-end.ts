import { auditReads } from '../../audit/audit-operations.js'
import { verifyTrail } from '../../audit/verify-trail.js'
import { AppError } from '../../errors/app-error.js'
import { openReader } from '../../main/store/open-reader.js'
import { inDataDirectory } from '../../main/store/store-location.js'
import { operationRegistry } from '../../store/ports/operation.js'
import type { Readers } from '../../store/ports/readers.js'

/**
 * Follows the chain of the trail in a folder to its end; gives the number and hash of its last record, as `--expected` takes them. Raises
 * `unavailable` where it is not intact.
 */
export async function provenTrailEnd(folder: string): Promise<string> {
  const operations = operationRegistry<Readers>(auditReads)
  const { reader, close } = await openReader(inDataDirectory(folder), operations)
  try {
    const { isIntact, problems, end } = await verifyTrail({ reader })
    if (isIntact) return `${end.seq}:${end.hash}`
    throw new AppError('unavailable', `the audit trail in ${folder} is not intact: ${problems.join('; ')}`)
  } finally {
    await close()
  }
}
