import { readFileSync } from 'node:fs'

import { AppError } from '../errors/app-error.js'
import { packageRoot } from './package-root.js'

const compiled = new Map<string, WebAssembly.Module>()

/**
 * A module that `npm run build` has made of AssemblyScript, for the sources too, compiled once for each thread. Raises `internal` when
 * Tidegate has not been built.
 */
export function compileBuilt(path: string): WebAssembly.Module {
  const module = compiled.get(path) ?? compile(`${packageRoot}dist/${path}`)
  compiled.set(path, module)
  return module
}

function compile(file: string): WebAssembly.Module {
  try {
    return new WebAssembly.Module(readFileSync(file))
  } catch (cause) {
    throw new AppError('internal', `${file} is missing or damaged: run npm run build`, { cause })
  }
}
