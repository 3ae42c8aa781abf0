import type { Migrations } from '../migrate.js'
import { createAudit } from './audit.js'

/** The schema of `tidegate.db`, in the order in which its parts came. */
export const serviceMigrations: Migrations = {
  '0001-audit': { up: createAudit },
}
