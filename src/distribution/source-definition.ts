import type { SignatureDemand } from '../rego/index.js'
import type { BundleLocation } from './fetching/bundle-location.js'
import type { SourceSettings } from './policy-source.js'

/** A source, complete and checked. */
export interface SourceDefinition extends SourceSettings {
  readonly location: BundleLocation
  /** Replaces the requirements of `policies.bundleSigning`. */
  readonly demand?: SignatureDemand | undefined
}
