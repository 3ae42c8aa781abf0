import type { Config } from '../../config/config.js'
import { findOpa, opaLimits, type OpaProgram } from '../../rego/index.js'
import { temporaryFolderOf } from './temporary-folder.js'

/**
 * Finds the `opa` program, with its temporary files in the folder of the service. Throws as
 * `findOpa`.
 */
export async function findServiceOpa({
  policies,
  dataDir,
}: Pick<Config, 'policies' | 'dataDir'>): Promise<OpaProgram> {
  const { opa: named, capabilities } = policies
  const program = await findOpa({ named, capabilities, env: process.env, limits: opaLimits(policies) })
  const temporaryFolder = temporaryFolderOf(dataDir)
  return temporaryFolder === undefined ? program : { ...program, temporaryFolder }
}
