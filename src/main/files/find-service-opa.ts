import type { Config } from '../../config/config.js'
import { findOpa, opaLimits, type OpaProgram } from '../../rego/index.js'
import { temporaryFolderOf } from './temporary-folder.js'

/** The `opa` program for a service, with its temporary files among those of the service. Raises as `findOpa`. */
export async function findServiceOpa({ policies, dataDir }: Config): Promise<OpaProgram> {
  const { opa: named, capabilities } = policies
  const program = await findOpa({ named, capabilities, env: process.env, limits: opaLimits(policies) })
  const temporaryFolder = temporaryFolderOf(dataDir)
  return temporaryFolder === undefined ? program : { ...program, temporaryFolder }
}
