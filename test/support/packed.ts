import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { PROJECT_ROOT } from './project-root.js'
import type { Workspace } from './workspace.js'

/** The package as others get it. */
export interface Packed {
  /** Relative to the package. */
  readonly files: readonly string[]
  /** The folder of the unpacked package, with its declared dependencies only. */
  readonly folder: string
}

interface PackReport {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

/**
 * Packs the project as it is built and unpacks it in a workspace. Its dependencies are links to
 * those of the project.
 */
export function packInto(workspace: Workspace): Packed {
  const options = ['--ignore-scripts', '--json', '--pack-destination', workspace.path]
  const text = execFileSync('npm', ['pack', ...options], { cwd: PROJECT_ROOT, encoding: 'utf8' })
  const [report] = JSON.parse(text) as PackReport[]
  if (report === undefined) throw new Error('npm packed nothing')
  execFileSync('tar', ['-xzf', join(workspace.path, report.filename), '-C', workspace.path])
  const folder = join(workspace.path, 'package')
  for (const name of neededBy(folder)) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(PROJECT_ROOT, 'node_modules', name), link)
  }
  return { files: report.files.map(({ path }) => path), folder }
}

function neededBy(folder: string): string[] {
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as Record<'dependencies' | 'optionalDependencies', Record<string, string>>
  return [...Object.keys(dependencies), ...Object.keys(optionalDependencies)]
}
