/** What the bundler puts in (`build/bundle.js`): a digest of all sources and of the libraries' versions. */
declare const BUILD_DIGEST: string | undefined

/** Tells this build of the program from others, also of the same version; undefined where the sources run as they are. */
export function buildDigest(): string | undefined {
  return typeof BUILD_DIGEST === 'undefined' ? undefined : BUILD_DIGEST
}
