/** Version of the command line and of the packages that it comes with. */
export const VERSION = '0.1.0'
