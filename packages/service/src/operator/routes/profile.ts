import { describeOpenPoints } from '../../kernel/open-point-description.ts'
import { input, read, type Route } from '../route.ts'

/** The deployment profile that this process runs with. */
export const readProfile = read('/profile', input({}), ({ context }) =>
  Promise.resolve({
    items: describeOpenPoints(context.profile).map((point) => ({
      ...point,
      is_overridden: point.settings.some(
        ({ value, default: usual }) => JSON.stringify(value) !== JSON.stringify(usual),
      ),
    })),
  }),
)

/** The settings that this process runs with, without secrets. */
export const readSettings = read(
  '/settings',
  input({}),
  ({ settings }) => Promise.resolve({ items: settings }),
  { role: 'operator' },
)

export const profileRoutes: readonly Route[] = [readProfile, readSettings]
