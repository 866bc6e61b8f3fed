/**
 * Time zones by area code, for countries with several zones: by calling code, the zones and their areas (at most four digits
 * with the calling code). Legal time counts, not local custom. An area across a zone border names all its zones; a missing area
 * may be anywhere in its country.
 */
export const AREA_ZONES: Record<string, readonly (readonly [zones: string, areas: string])[]> = {
  "1": [
    // The United States, by state.
    ["America/New_York", "203 475 860 959"], // Connecticut
    ["America/New_York", "302"], // Delaware
    ["America/New_York", "202 771"], // District of Columbia
    ["America/New_York", "239 305 321 324 352 386 407 561 645 656 689 727 728 754 772 786 813 863 904 941 954"], // Florida
    ["America/New_York America/Chicago", "448 850"], // Florida: the panhandle
    ["America/New_York", "229 404 470 478 678 706 762 770 912 943"], // Georgia
    ["America/New_York", "207"], // Maine
    ["America/New_York", "227 240 301 410 443 667"], // Maryland
    ["America/New_York", "339 351 413 508 617 774 781 857 978"], // Massachusetts
    ["America/New_York", "603"], // New Hampshire
    ["America/New_York", "201 551 609 640 732 848 856 862 908 973"], // New Jersey
    ["America/New_York", "212 315 329 332 347 363 516 518 585 607 624 631 646 680 716 718 838 845 914 917 929 934"], // New York
    ["America/New_York", "252 336 472 704 743 828 910 919 980 984"], // North Carolina
    ["America/New_York", "216 220 234 283 326 330 380 419 440 513 567 614 740 937"], // Ohio
    ["America/New_York", "215 223 267 272 412 445 484 570 582 610 717 724 814 835 878"], // Pennsylvania
    ["America/New_York", "401"], // Rhode Island
    ["America/New_York", "803 821 839 843 854 864"], // South Carolina
    ["America/New_York", "802"], // Vermont
    ["America/New_York", "276 434 540 571 686 703 757 804 826 948"], // Virginia
    ["America/New_York", "304 681"], // West Virginia
    ["America/Detroit", "231 248 269 313 517 586 616 679 734 810 947 989"], // Michigan
    ["America/Detroit America/Menominee", "906"], // Michigan: the upper peninsula
    ["America/Indianapolis", "260 317 463 765"], // Indiana
    ["America/Indianapolis America/Chicago", "219 574 812 930"], // Indiana: the north-west and the south
    ["America/Louisville", "502 859"], // Kentucky
    ["America/Louisville America/Chicago", "270 364 606"], // Kentucky: the west and Clinton County
    ["America/New_York", "865"], // Tennessee: Knoxville
    ["America/New_York America/Chicago", "423"], // Tennessee: Chattanooga to Pikeville, and the north-east
    ["America/Chicago", "615 629 731 901 931"], // Tennessee
    ["America/Chicago", "205 251 256 334 659 938"], // Alabama
    ["America/Chicago", "327 479 501 870"], // Arkansas
    ["America/Chicago", "217 224 309 312 331 447 464 618 630 708 730 773 779 815 847 861 872"], // Illinois
    ["America/Chicago", "319 515 563 641 712"], // Iowa
    ["America/Chicago", "316 913"], // Kansas
    ["America/Chicago America/Denver", "620 785"], // Kansas: the west
    ["America/Chicago", "225 318 337 504 985"], // Louisiana
    ["America/Chicago", "218 320 507 612 651 763 952"], // Minnesota
    ["America/Chicago", "228 601 662 769"], // Mississippi
    ["America/Chicago", "235 314 417 557 573 636 660 816 975"], // Missouri
    ["America/Chicago America/Denver", "308 402 531"], // Nebraska: 402 reaches west into Cherry County
    ["America/Chicago America/Denver", "701"], // North Dakota
    ["America/Chicago", "405 539 572 580 918"], // Oklahoma
    ["America/Chicago America/Denver", "605"], // South Dakota
    ["America/Chicago", "210 214 254 281 325 346 361 409 430 432 469 512 682 713"], // Texas
    ["America/Chicago", "726 737 806 817 830 832 903 936 940 945 956 972 979"], // Texas
    ["America/Denver", "915"], // Texas: El Paso
    ["America/Chicago", "262 274 353 414 534 608 715 920"], // Wisconsin
    ["America/Phoenix", "480 520 602 623"], // Arizona
    ["America/Phoenix America/Denver", "928"], // Arizona: the Navajo Nation has summer time, the rest has not
    ["America/Denver", "303 719 720 748 970 983"], // Colorado
    ["America/Boise America/Los_Angeles", "208 986"], // Idaho
    ["America/Denver", "406"], // Montana
    ["America/Denver", "505 575"], // New Mexico
    ["America/Denver", "385 435 801"], // Utah
    ["America/Denver", "307"], // Wyoming
    ["America/Los_Angeles", "209 213 279 310 323 341 350 369 408 415 424 442 510 530 559 562 619 626 628 650"], // California
    ["America/Los_Angeles", "657 661 669 707 714 738 747 760 805 818 820 831 840 858 909 916 925 949 951"], // California
    ["America/Los_Angeles", "702 725"], // Nevada
    ["America/Los_Angeles America/Denver", "775"], // Nevada: West Wendover
    ["America/Los_Angeles", "503 971"], // Oregon
    ["America/Los_Angeles America/Boise", "458 541"], // Oregon: Malheur County
    ["America/Los_Angeles", "206 253 360 425 509 564"], // Washington
    ["America/Anchorage America/Adak", "907"], // Alaska
    ["Pacific/Honolulu", "808"], // Hawaii
    // Canada, by province.
    ["America/Edmonton", "368 403 587 780 825"], // Alberta
    ["America/Vancouver", "604"], // British Columbia: Vancouver
    // British Columbia, whose east keeps several times of its own.
    [
      "America/Vancouver America/Edmonton America/Creston America/Dawson_Creek America/Fort_Nelson",
      "236 250 257 672 778",
    ],
    ["America/Winnipeg", "204 431 584"], // Manitoba
    ["America/Moncton", "428 506"], // New Brunswick
    ["America/St_Johns America/Goose_Bay", "709 879"], // Newfoundland and Labrador
    ["America/Halifax", "782 902"], // Nova Scotia, Prince Edward Island
    ["America/Toronto", "226 249 289 343 365 382 416 437 519 548 613 647 683 705 742 753 905 942"], // Ontario
    ["America/Toronto America/Winnipeg America/Coral_Harbour", "807"], // Ontario: the north-west, with Atikokan
    ["America/Toronto", "263 354 438 450 468 514 579 819 873"], // Quebec
    ["America/Toronto America/Halifax America/Blanc-Sablon", "273 367 418 581"], // Quebec: the east
    ["America/Regina America/Edmonton America/Winnipeg", "306 474 639"], // Saskatchewan, with two border towns
    // Yukon, the Northwest Territories and Nunavut share one area code.
    [
      "America/Whitehorse America/Dawson America/Inuvik America/Edmonton America/Cambridge_Bay America/Rankin_Inlet " +
        "America/Resolute America/Coral_Harbour America/Iqaluit",
      "867",
    ],
  ],
  "52": [
    // Mexico's centre, north-east and south-east, also behind the 1 that mobiles once had. The north-west is too mixed.
    ["America/Mexico_City", "2 33 4 5 7 12 14 15 17"],
    ["America/Monterrey America/Matamoros", "8 18"],
    ["America/Mexico_City America/Merida America/Cancun", "9 19"],
  ],
  "55": [
    // Brazil's area codes are by state, mobiles included; Noronha has Recife's.
    ["America/Sao_Paulo", "1 2 3 4 5 61 62 64"],
    ["America/Araguaina", "63"],
    ["America/Cuiaba", "65 66"],
    ["America/Campo_Grande", "67"],
    ["America/Rio_Branco", "68"],
    ["America/Porto_Velho", "69"],
    ["America/Bahia", "71 73 74 75 77"],
    ["America/Maceio", "79 82"],
    ["America/Recife America/Noronha", "81 87"],
    ["America/Fortaleza", "83 84 85 86 88 89 98 99"],
    ["America/Belem", "91 94 96"],
    ["America/Santarem", "93"],
    ["America/Manaus", "92"],
    ["America/Manaus America/Eirunepe", "97"],
    ["America/Boa_Vista", "95"],
  ],
};
