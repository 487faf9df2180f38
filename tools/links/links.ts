/** `npm run check -- --only links`: every relative link and anchor of every Markdown page resolves. */

import { reportFindings } from '../repository/findings.ts'
import { checkLinks, withFolders } from './markdown-links.ts'
import { listFiles, readFiles } from '../repository/repository-files.ts'

const pages = readFiles((path) => path.endsWith('.md'))
reportFindings(checkLinks(pages, withFolders(listFiles())), `all links of ${pages.length} pages resolve`)
