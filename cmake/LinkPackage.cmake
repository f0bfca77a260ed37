# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

# Creates symbolic links in folder TO to all files of folder FROM, and removes links to deleted files.
# Other files in TO, such as the extension module, stay.

file(MAKE_DIRECTORY "${TO}")
file(GLOB_RECURSE present RELATIVE "${TO}" "${TO}/*")
foreach(file IN LISTS present)
  if(IS_SYMLINK "${TO}/${file}" AND NOT EXISTS "${FROM}/${file}")
    file(REMOVE "${TO}/${file}")
  endif()
endforeach()

file(GLOB_RECURSE files RELATIVE "${FROM}" "${FROM}/*")
foreach(file IN LISTS files)
  if(NOT file MATCHES "(^|/)__pycache__/|\\.so$" AND NOT EXISTS "${TO}/${file}")
    cmake_path(GET file PARENT_PATH folder)
    file(MAKE_DIRECTORY "${TO}/${folder}")
    file(CREATE_LINK "${FROM}/${file}" "${TO}/${file}" SYMBOLIC)
  endif()
endforeach()
