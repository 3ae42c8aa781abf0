import { AppError } from '../../../errors/app-error.js'

/**
 * The words of a path that the plugins build: each segment form-encoded, so that `+` is a space and `%2F` a slash within
 * the segment (clients, 1.7). Raises `invalid` for a broken escape.
 */
export function pathWords(path: string): readonly string[] {
  try {
    return path
      .split('/')
      .slice(1)
      .map((segment) => decodeURIComponent(segment.replaceAll('+', ' ')))
  } catch (cause) {
    throw new AppError('invalid', `the path has a broken percent escape: ${path}`, { cause })
  }
}
