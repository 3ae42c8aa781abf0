import { rm } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'

import { loadConfig } from '../../config/load-config.js'
import { inTemporaryDirectory } from '../../lib/temporary-directory.js'
import { MANIFEST_FILE } from '../../pdp/archive/manifest.js'
import { collectSources } from '../../pdp/compile/collect-sources.js'
import { parseModules } from '../../pdp/compile/parse-modules.js'
import type { RegoModule } from '../../pdp/compile/rego-module.js'
import { stageBundle } from '../../pdp/compile/stage-bundle.js'
import { readData } from '../../pdp/data/base-document.js'
import { regoVersionFlags } from '../../pdp/opa/opa-release.js'
import { runOpa } from '../../pdp/opa/run-opa.js'
import type { OpaProgram } from '../../pdp/opa/find-opa.js'
import { loadOptions } from '../input/open-policies.js'
import { orShipped } from '../input/shipped-policies.js'
import { EXIT } from '../session/session.js'
import type { ExitCode } from '../session/session.js'
import { policyFlags } from '../session/shared-options.js'
import type { OutputOptions } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'

/** The flags of commands that pass on to `opa`. */
export interface PassOnOptions extends OutputOptions {
  readonly config?: string
  readonly opa?: string
}

/**
 * Runs `opa` in a bundle of the files that are policies here, tests left out, each in its version of Rego and under its own name; base documents
 * are merged into one. Raises `invalid` for what does not parse.
 */
export async function passOn(
  named: readonly string[],
  options: PassOnOptions,
  terminal: Terminal,
  args: readonly string[],
): Promise<ExitCode> {
  const { config, opa } = await openOpa(options, terminal)
  const directories = named.length > 0 ? named : orShipped(config.policies.directories)
  const sources = await collectSources(directories, { includeTests: false })
  const modules = await parseModules(opa, sources.rego)
  return await inTemporaryDirectory(async (temporary) => {
    const cwd = join(temporary, 'bundle')
    await stageBundle(cwd, modules, readData(sources.data).data, ({ file }) => nameWithin(file))
    const flags = args[0] === 'inspect' ? await withoutManifest(opa, modules, cwd) : []
    return await runIn(opa, [...args, ...flags], terminal, cwd)
  })
}

/** Takes away the manifest that nobody has written, where a flag can say the version of all modules as well; gives that flag. */
async function withoutManifest(
  opa: OpaProgram,
  modules: readonly RegoModule[],
  bundle: string,
): Promise<string[]> {
  const [version, ...others] = new Set(modules.map((module) => module.version))
  if (version === undefined || others.length > 0) return []
  await rm(join(bundle, MANIFEST_FILE))
  return await regoVersionFlags(opa, version)
}

/** The configuration and the program that it names, or that is found. */
export async function openOpa(options: PassOnOptions, terminal: Terminal) {
  const config = loadConfig({ file: options.config, env: terminal.env, flags: policyFlags(options) })
  return { config, opa: await loadOptions(config, terminal).findOpa() }
}

/** Runs `opa` and prints what it prints. */
export async function runIn(
  opa: OpaProgram,
  args: readonly string[],
  terminal: Terminal,
  cwd: string,
): Promise<ExitCode> {
  const run = await runOpa(opa, args, { cwd })
  terminal.out(run.stdout)
  terminal.err(run.stderr)
  return run.exitCode === 0 ? EXIT.fine : EXIT.error
}

/** The path of a file from here, or from the root where it is elsewhere. */
function nameWithin(file: string): string {
  const path = relative('.', file)
  return (path.startsWith('..') ? resolve(file) : path).replaceAll('\\', '/').replace(/^(?:\w:)?\/+/, '')
}
