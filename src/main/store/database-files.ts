/** The files of a data directory, for what looks at them or copies them without being the service. */
export { claimDataDirectory } from '../../store/sqlite/engine/claim-data-directory.js'
export { checkDatabase, copyDatabase } from '../../store/sqlite/backup/copy-database.js'
