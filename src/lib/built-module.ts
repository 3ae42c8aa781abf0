import { readFileSync } from 'node:fs'

import { AppError } from '../errors/app-error.js'
import { packageRoot } from './package-root.js'

const compiled = new Map<string, WebAssembly.Module>()
const read = new Map<string, Uint8Array>()

/**
 * Compiles a WASM module that `npm run build` made from AssemblyScript, once per thread. Throws
 * `internal` if Tidegate has not been built.
 */
export function compileBuilt(path: string): WebAssembly.Module {
  const module = compiled.get(path) ?? compile(`${packageRoot}dist/${path}`)
  compiled.set(path, module)
  return module
}

/**
 * Reads the bytes of such a module, to link it into others, once per thread. Throws as
 * `compileBuilt`.
 */
export function readBuilt(path: string): Uint8Array {
  const bytes = read.get(path) ?? orDamaged(`${packageRoot}dist/${path}`, (file) => readFileSync(file))
  read.set(path, bytes)
  return bytes
}

function compile(path: string): WebAssembly.Module {
  return orDamaged(path, (file) => new WebAssembly.Module(readFileSync(file)))
}

function orDamaged<T>(file: string, take: (file: string) => T): T {
  try {
    return take(file)
  } catch (cause) {
    throw new AppError('internal', `${file} is missing or damaged: run npm run build`, { cause })
  }
}
